"use strict";

/* The search and the filters of a section, which hide its items. */
for (const form of document.querySelectorAll("form")) {
  const items = [...form.closest("section").querySelectorAll("[data-item]")];
  const texts = new Map();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };
  const filter = () => {
    const chosen = [...new FormData(form)].filter(([name, value]) => name !== "search" && value);
    const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of items) {
      const fits =
        chosen.every(([name, value]) => item.dataset[name].split(" ").includes(value)) &&
        words.every((word) => textOf(item).includes(word));
      item.hidden = !fits;
      count += fits;
    }
    form.querySelector("output").textContent = count === items.length ? `${count}` : `${count} of ${items.length}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
}

/* An address with the name of an entry opens it; what is printed is all open. */
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", open);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((entry) => { entry.open = true; }));
open();
