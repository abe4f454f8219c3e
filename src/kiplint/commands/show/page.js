(() => {
"use strict";
/* One message at a time, in one of its versions; without a name the index of all. */
const kiplint = window.kiplint;
kiplint.start = () => {
  const articles = [...document.querySelectorAll(".sheet")];
  const index = [...document.querySelectorAll("[data-index]")];
  const lone = index.length === 0;
  const title = document.title;
  const layouts = (article) => [...article.querySelectorAll(".layout")];
  let last = "";
  const show = (article, anchor) => {
    const some = layouts(article);
    const version = Number(anchor.split("@")[1] ?? NaN);
    const holds = (one) => { const [low, high = low] = one.dataset.versions.split("-").map(Number); return low <= version && version <= high; };
    const chosen = some.find(holds) || some[some.length - 1];
    for (const one of some) one.classList.toggle("on", one === chosen);
    for (const link of article.querySelectorAll(".versions a")) {
      if (chosen && link.hash === `#${chosen.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  kiplint.open = (name) => {
    const [anchor] = name.split("@");
    const article = articles.find((one) => one.id === anchor) || (lone ? articles[0] : null);
    for (const one of articles) one.classList.toggle("on", one === article);
    for (const one of index) one.hidden = Boolean(article);
    if (article) {
      show(article, name);
      document.title = `${article.querySelector("h2").textContent} - ${title}`;
      if (last.split("@")[0] !== anchor && !lone) {
        scrollTo(0, 0);
        const head = article.querySelector("h2");
        head.tabIndex = -1;
        head.focus({ preventScroll: true });
      }
    } else {
      document.title = title;
      const back = document.querySelector(`[data-of="${CSS.escape(last.split("@")[0])}"] a`);
      if (last && back) back.focus();
    }
    last = article ? name : "";
    return Boolean(article) || name === "";
  };
  /* From an open message to the one before or behind it. */
  kiplint.step = (by) => {
    const at = articles.findIndex((one) => one.classList.contains("on"));
    const next = articles[at + by];
    if (at >= 0 && next) {
      kiplint.go(next.id);
      kiplint.open(next.id);
    }
    return at >= 0;
  };
  /* A search finds fields too, which stand in the articles. */
  kiplint.words = (item) => {
    const article = document.getElementById(item.dataset.of);
    return [...article.querySelectorAll(".fields th")].map((one) => one.textContent).join(" ");
  };
};
})();
