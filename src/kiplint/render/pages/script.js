(() => {
"use strict";
const root = document.documentElement;
const KEY = "kiplint-theme";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const recall = () => { try { return localStorage.getItem(KEY) || ""; } catch { return ""; } };
const keep = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* a page from a file may keep nothing */ } };
const paint = (theme) => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; };
paint(recall());
root.classList.add("js");

/* An address: #name?search=words&severity=error. The name is what is opened, the rest is what is filtered. */
const address = () => {
  const [name, query = ""] = location.hash.slice(1).split("?");
  try { return [decodeURIComponent(name), new URLSearchParams(query)]; } catch { return ["", new URLSearchParams()]; }
};
const hash = (name, query) => {
  const text = String(query);
  return name || text ? `#${encodeURIComponent(name)}${text ? `?${text}` : ""}` : location.pathname + location.search;
};

const make = (tag, name, ...inside) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
};

const once = (make) => {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
};

const kiplint = window.kiplint = { address, make };

/* The details of the entries of a long page and the rows of its folds, in their order; none where they are in their places. */
const unpack = async () => {
  const packed = document.getElementById("packed");
  if (!packed) return [[], []];
  const bytes = Uint8Array.from(atob(packed.textContent), (char) => char.charCodeAt(0));
  packed.remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};

document.addEventListener("DOMContentLoaded", async () => {
  const form = document.querySelector("form[data-filters]");
  const [packed, rows] = await unpack();
  /* The rows of a long page's folds are beside the document, where they cost no layout, until their fold is opened. */
  const folded = new Map(all("details[data-rows]").map((fold, at) => {
    const home = make("div");
    home.innerHTML = rows[at];
    return [fold, home];
  }));
  const entries = (within) => (folded.has(within) ? all("[data-item]", folded.get(within)) : all("[data-item], [data-rows]", within).flatMap((one) => (folded.has(one) ? entries(one) : [one])));
  const place = (fold) => {
    if (!folded.has(fold)) return;
    fold.append(...folded.get(fold).childNodes);
    fold.removeAttribute("data-rows");
    folded.delete(fold);
  };
  const placeOf = (one) => place([...folded].find(([, home]) => home.contains(one))?.[0]);
  const unfold = (fold) => { place(fold); fold.open = true; };
  const items = entries();
  const groups = all("[data-group]");
  const homeOf = new Map(items.map((item) => [item, item.parentElement]));
  const shown = document.querySelector("[data-shown]");
  const nothing = document.querySelector("[data-nothing]");
  let current = "";
  let words = [];
  let wanted = [];

  for (const radio of all(".theme input")) {
    radio.checked = radio.value === recall();
    radio.addEventListener("change", () => { keep(radio.value); paint(radio.value); });
  }
  const inside = new Map(items.map((item, at) => [item, packed[at]]));
  const build = (item) => {
    const text = inside.get(item);
    if (!text) return;
    inside.delete(item);
    textOf(item);
    const made = make("div", "inside");
    made.innerHTML = text;
    item.append(made);
    narrow(item);
    mark();
  };
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("main").focus(); });
  const bar = document.querySelector(".bar");
  const measure = () => {
    const high = bar && getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    root.style.setProperty("--bar", `${high}px`);
  };
  measure();
  addEventListener("resize", measure);

  const textOf = once((item) => `${item.textContent} ${homeOf.get(item).closest("[data-group]")?.dataset.group || ""} ${plain(inside.get(item))}`.toLowerCase());
  const SIGNS = { lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'" };
  const plain = (markup = "") => markup.replace(/<[^>]*>/g, "").replace(/&(\w+|#\d+);/g, (all, name) => SIGNS[name] ?? all);
  const asked = () => {
    const query = new URLSearchParams();
    for (const [name, value] of form ? new FormData(form) : []) if (value.trim()) query.append(name, value.trim());
    return query;
  };
  const parts = new Map(items.map((item) => [item, item.dataset.parts ? JSON.parse(item.dataset.parts) : [{ ...item.dataset }]]));
  const has = (values) => wanted.every(([name, some]) => some.includes(values[name]));
  /* Of the parts of an entry those that the filters choose, and of them those with the words that the entry is found by. */
  const narrow = (item) => {
    const chosen = all("[data-part]", item).filter((part) => { part.hidden = !has(part.dataset); return !part.hidden; });
    const head = words.length && chosen.length ? item.querySelector("summary").textContent.toLowerCase() : "";
    const rest = words.filter((word) => !head.includes(word));
    const hits = rest.length ? chosen.filter((part) => { const text = part.textContent.toLowerCase(); return rest.every((word) => text.includes(word)); }) : [];
    if (hits.length) chosen.forEach((part) => { part.hidden = !hits.includes(part); });
  };
  const MOST_OPENED = 100;
  const folds = all("details.fold").filter((fold) => entries(fold).length);
  const held = once(entries);
  const labelOf = once((group) => group.querySelector("[data-left]"));
  const isLast = once((fold) => !fold.querySelector("details.fold"));
  /* An entry may stand for several findings. */
  const sum = (some) => some.reduce((count, item) => count + Number(item.dataset.number || 1), 0);
  const total = sum(items);
  const filter = () => {
    if (!form) return;
    const query = asked();
    if (kiplint.filtered) return kiplint.filtered(query);
    words = (query.get("search") || "").toLowerCase().split(/\s+/).filter(Boolean);
    wanted = [...new Set(query.keys())].filter((name) => name !== "search").map((name) => [name, query.getAll(name)]);
    const fitting = new Set(items.filter((item) => parts.get(item).some(has) && words.every((word) => textOf(item).includes(word))));
    const count = sum([...fitting]);
    for (const item of items) {
      if (item.dataset.parts) narrow(item);
      if (item.hidden === fitting.has(item)) item.hidden = !item.hidden;
    }
    for (const group of groups) {
      const left = sum(held(group).filter((item) => fitting.has(item)));
      if (group.hidden !== (left === 0)) group.hidden = !group.hidden;
      const label = labelOf(group);
      if (label && label.textContent !== `${left}`) label.textContent = left;
    }
    /* A fold is opened for its hits, as long as there are few: what stays closed says how many it has. */
    let room = words.length + wanted.length > 0 ? MOST_OPENED : 0;
    for (const fold of folds) {
      const hits = held(fold).filter((item) => fitting.has(item)).length;
      const opens = room > 0 && hits > 0;
      if (isLast(fold)) room -= hits;
      if (opens && !fold.open) {
        unfold(fold);
        fold.dataset.opened = "";
      } else if (!opens && "opened" in fold.dataset) {
        fold.open = false;
        delete fold.dataset.opened;
      }
    }
    if (shown) shown.textContent = count === total ? `${count} ${shown.dataset.shown}` : `${count} of ${total} ${shown.dataset.shown}`;
    if (nothing) nothing.hidden = count > 0 || items.length === 0;
    mark();
  };
  /* What a search has found is marked where it can be seen, as far as the browser can do that without changing the page. */
  const MOST_MARKS = 1000;
  const mark = () => {
    if (!window.Highlight) return;
    const ranges = [];
    for (const item of words.length ? items : []) {
      if (item.hidden || !item.isConnected || item.closest("details.fold:not([open])") || ranges.length > MOST_MARKS) continue;
      const walker = document.createTreeWalker(item.open === false ? item.querySelector("summary") : item, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.data.toLowerCase();
        for (const word of text.length === node.length ? words : []) {
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
            ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + word.length }));
          }
        }
      }
    }
    CSS.highlights.set("hit", new Highlight(...ranges));
  };
  const fill = (query) => {
    for (const field of form ? form.elements : []) {
      if (!field.name) continue;
      if (field.type === "checkbox") field.checked = query.getAll(field.name).includes(field.value);
      else field.value = query.get(field.name) || "";
    }
  };
  const clear = () => { form.reset(); fill(new URLSearchParams()); changed(); };
  const changed = () => { filter(); history.replaceState(null, "", hash(current, asked())); };

  /* What an address names: a detail to open, or a place to show. */
  const find = (name) => {
    if (!name) return null;
    if (!document.getElementById(name)) {
      for (const item of items.filter((item) => item.id === name || inside.get(item)?.includes(` id="${name}"`))) {
        placeOf(item);
        if (item.id !== name) build(item);
      }
    }
    return document.getElementById(name);
  };
  const reveal = (target) => {
    if (form && items.some((item) => item.hidden && (item === target || item.contains(target)))) clear();
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") { build(one); one.open = true; }
    all(".target").forEach((one) => one.classList.remove("target"));
    target.classList.add("target");
    const first = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    if (!first.hasAttribute("tabindex") && first === target) first.tabIndex = -1;
    first.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    const [name, query] = address();
    const before = current;
    current = name;
    fill(query);
    filter();
    if (kiplint.open && kiplint.open(name)) return;
    const [target, left] = [find(name), before === name ? null : find(before)];
    if (left && !left.contains(target)) {
      left.classList.remove("target");
      if (left.tagName === "DETAILS") { left.open = false; left.querySelector("summary").focus({ preventScroll: true }); }
    }
    if (target) reveal(target);
  };
  const settle = () => setTimeout(() => { if (!kiplint.open && find(current)) reveal(find(current)); }); /* the browser's own jump takes the focus */
  if (document.readyState === "complete") settle();
  else addEventListener("load", settle);
  addEventListener("toggle", (event) => { if (words.length && items.includes(event.target)) mark(); }, true);
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);

  addEventListener("click", (event) => {
    place(event.target.closest("summary")?.parentElement);
    const item = event.target.closest("details[id] > summary")?.parentElement;
    if (!item || event.target.closest("a")) return;
    build(item);
    all(".target").forEach((one) => one.classList.remove("target"));
    if (item.open) {
      if (current === item.id) { current = ""; history.pushState(null, "", hash("", asked())); }
    } else {
      current = item.id;
      item.classList.add("target");
      history.pushState(null, "", hash(current, asked()));
    }
  });

  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    all("[data-clear]").forEach((button) => button.addEventListener("click", () => { clear(); form.elements.search?.focus(); }));
  }
  const steps = () => entries().filter((item) => !item.hidden).map((item) => item.querySelector("summary, a, button") || item).filter((one) => one.offsetParent || !one.isConnected || one.closest("details.fold"));
  const stand = (one) => {
    placeOf(one);
    for (let fold = one?.closest("details.fold"); fold; fold = fold.parentElement.closest("details.fold")) fold.open = true;
    one?.focus();
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input[type=search], input[type=text], select");
    if (event.key === "/" && !typing && form?.elements.search) {
      event.preventDefault();
      form.elements.search.focus();
      form.elements.search.select();
    } else if (event.key === "Escape" && typing) {
      if (event.target.type === "search" && event.target.value) {
        event.target.value = "";
        changed();
      }
      event.target.blur();
    } else if (event.key === "Enter" && event.target.type === "search") {
      event.preventDefault();
      stand((kiplint.hits?.() ?? steps())[0]);
    } else if ((event.key === "j" || event.key === "k") && !typing) {
      const list = steps();
      const at = list.indexOf(document.activeElement);
      stand(list[Math.max(0, Math.min(list.length - 1, at + (event.key === "j" ? 1 : -1)))]);
    }
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    const chosen = [...asked()].map(([name, value]) => `${name} ${form.elements[name].selectedOptions?.[0].text ?? value}`);
    const left = form?.querySelector(".shown")?.textContent || "a part";
    document.querySelector("[data-printed]").textContent = chosen.length ? `Only ${left}: ${chosen.join(", ")}` : "";
    [...folded.keys()].forEach(place);
    [...inside.keys()].filter((item) => !item.hidden).forEach(build);
    closed = all("details:not([open])");
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((one) => { one.open = false; }); });

  kiplint.go = (name) => { current = name; history.pushState(null, "", hash(name, asked())); };
  if (kiplint.start) kiplint.start();
  follow();
  root.classList.add("ready");
  /* The first key of a search is to be as fast as the others. */
  const left = packed.length ? [...items] : [];
  const prepare = (idle) => {
    while (left.length && idle.timeRemaining() > 2) textOf(left.pop());
    if (left.length) requestIdleCallback(prepare);
  };
  if (left.length && window.requestIdleCallback) requestIdleCallback(prepare);
});
})();
