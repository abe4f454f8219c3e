(() => {
"use strict";
/* One RPC or message at a time, in one of its versions; without a name the index of all. */
const kiplint = window.kiplint;
kiplint.start = () => {
  const articles = [...document.querySelectorAll(".sheet")];
  const index = [...document.querySelectorAll("[data-index]")];
  const lone = index.length === 0;
  const title = document.title;
  let previous = null;
  const show = (article, anchor) => {
    const newest = [...article.querySelectorAll(".versions [data-versions]")].pop()?.dataset.versions.split("-")[0];
    const version = Number(anchor.split("@")[1] ?? newest);
    for (const one of article.querySelectorAll("[data-versions]")) {
      const [low, high = low] = one.dataset.versions.split("-").map(Number);
      one.classList.toggle("on", low <= version && version <= high);
      one.querySelector("a")?.setAttribute("aria-current", one.classList.contains("on"));
    }
  };
  kiplint.open = (name) => {
    const [anchor] = name.split("@");
    const article = document.getElementById(anchor)?.closest(".sheet") || (lone ? articles[0] : null);
    for (const one of articles) one.classList.toggle("on", one === article);
    for (const one of index) one.hidden = Boolean(article);
    if (article) {
      show(article, name);
      document.title = `${article.querySelector("h2").textContent} - ${title}`;
      if (article !== previous && !lone) {
        scrollTo(0, 0);
        const head = article.querySelector("h2");
        head.tabIndex = -1;
        head.focus({ preventScroll: true });
      }
    } else {
      document.title = title;
      if (previous) document.querySelector(`[data-of="${CSS.escape(previous.id)}"] a`).focus();
    }
    previous = article;
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
    return [...article.querySelectorAll(".fields h3, .fields th")].map((one) => one.textContent).join(" ");
  };
};
})();
