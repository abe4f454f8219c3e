(() => {
"use strict";
const kiplint = window.kiplint;
kiplint.start = () => {
  const table = document.querySelector(".matrix");
  if (!table) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const size = data.releases.length;
  const grid = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const buttons = grid.map((row) => row.map((cell) => cell.firstElementChild));
  for (const mode of data.modes) mode.rows = mode.rows.map((text) => text.split(","));
  let mode = data.modes[0];
  const number = (at, to) => String(mode.squares[at * size + to][0]);
  const look = (at, to) => mode.squares[at * size + to]?.[1] || "";
  const dialog = document.getElementById("pair");
  const body = document.getElementById("pair-body");
  let here = [0, 0];

  const { make } = kiplint;
  const title = (client, broker) => `${data.releases[client]}/${data.releases[broker]}`;
  const pairs = new Map(data.releases.flatMap((_, client) => data.releases.map((_, broker) => [title(client, broker), [client, broker]])));
  const outcomes = (client, broker) => mode.rows[mode.pairs[client * size + broker]];

  /* The grid: which rows and columns are there, and what their squares say. */
  kiplint.filtered = (query) => {
    const words = (query.get("search") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const rpc = query.get("rpc");
    mode = data.modes[Number(query.get("mode") || 0)] || data.modes[0];
    document.getElementById("note").textContent = mode.note;
    const only = query.get("only");
    const fits = data.names.map((name) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word)));
    const bad = (at, to) => look(at, to).includes("bad");
    const row = fits.map((fit, at) => fit && (!only || fits.some((_, to) => bad(at, to))));
    const column = fits.map((fit, to) => fit && (!only || row.some((kept, at) => kept && bad(at, to))));
    let [count, total] = [0, 0];
    heads.forEach((head, to) => { head.hidden = !column[to]; });
    grid.forEach((cells, at) => {
      cells[0].parentElement.hidden = !row[at];
      if (!row[at]) return;
      cells.forEach((cell, to) => {
        cell.hidden = !column[to];
        const one = buttons[at][to];
        if (!one || !column[to]) return;
        if (!only || bad(at, to)) count += data.sizes[at] * data.sizes[to];
        const wrong = bad(at, to) ? ", some in trouble" : "";
        one.title = `${data.releases[at]} as the client of ${data.releases[to]}: ${number(at, to)} RPCs can be used${wrong}`;
        one.setAttribute("aria-label", one.title);
        if (!rpc) {
          one.textContent = number(at, to);
          one.className = look(at, to);
        } else {
          const state = outcomes(at, to)[Number(rpc)];
          const version = state.slice(1);
          one.textContent = version && state[0] === "A" ? version : state ? (data.codes[state[0]][2] ? "!" : "-") : "";
          one.className = state ? (state[0] === "A" ? "q3" : data.codes[state[0]][2] ? "bad" : "q0") : "absent";
        }
      });
    });
    data.sizes.forEach((clients, at) => data.sizes.forEach((brokers, to) => { total += look(at, to) ? clients * brokers : 0; }));
    document.getElementById("legend").hidden = Boolean(rpc);
    document.querySelector("[data-nothing]").hidden = count > 0;
    table.hidden = count === 0;
    const name = rpc ? `, versions of ${data.rpcs[Number(rpc)][1]}` : "";
    document.querySelector("[data-shown]").textContent = (count === total ? `${count} pairs` : `${count} of ${total} pairs`) + name;
  };

  /* One square can be reached by Tab, the others from there by arrows. */
  const stand = (at, to, focus) => {
    buttons[here[0]][here[1]]?.setAttribute("tabindex", "-1");
    here = [at, to];
    buttons[at][to].tabIndex = 0;
    if (focus) buttons[at][to].focus();
  };
  buttons.flat().forEach((one) => one?.setAttribute("tabindex", "-1"));
  stand(0, 0, false);
  kiplint.hits = () => buttons.flat().filter((one) => one?.offsetParent);
  const place = (button) => [button.closest("tr").sectionRowIndex, button.parentElement.cellIndex - 1];
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -size], End: [0, size] }[event.key];
    if (!step || event.target.tagName !== "BUTTON") return;
    event.preventDefault();
    let [at, to] = place(event.target);
    do { at += Math.sign(step[0]); to += Math.sign(step[1]); } while (grid[at]?.[to] && (!buttons[at][to]?.offsetParent || (Math.abs(step[1]) === size && grid[at][to + Math.sign(step[1])])));
    if (buttons[at]?.[to]?.offsetParent) stand(at, to, true);
  });
  /* The row and the column of the square under the pointer, or with the focus. */
  const cross = (event) => {
    const button = event.target.closest("button");
    const [at, to] = button ? place(button) : [-1, -1];
    grid.forEach((cells, row) => cells[0].parentElement.classList.toggle("on", row === at));
    heads.forEach((head, column) => head.classList.toggle("on", column === to));
  };
  table.addEventListener("pointerover", cross);
  table.addEventListener("focusin", cross);
  table.addEventListener("pointerleave", cross);
  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const [at, to] = place(button);
    stand(at, to, false);
    const name = title(at, to);
    kiplint.go(name);
    kiplint.open(name);
  });

  /* What a pair makes of each RPC. */
  const list = (client, broker, found, version) => {
    const head = ["RPC", "client", "broker"].concat(version ? ["used"] : []);
    const made = make("table", "wire", make("thead", "", make("tr", "", ...head.map((text) => make("th", "", text)))));
    const lines = found.map(([rpc, state]) => {
      const [key, name, between] = data.rpcs[rpc];
      const title = make("th", "", name, " ", make("span", "key", String(key)));
      if (between) title.append(" ", make("span", "tag", "between brokers"));
      const cells = [data.client[client][rpc] || "-", mode.broker[broker][rpc] || "-"].concat(version ? [state.slice(1)] : []);
      const line = make("tr", "", title, ...cells.map((text) => make("td", "mono", text)));
      line.dataset.rpc = name;
      return line;
    });
    made.append(make("tbody", "", ...lines));
    return make("div", "scroll", made);
  };
  const show = (client, broker) => {
    const found = outcomes(client, broker).map((state, rpc) => [rpc, state]).filter(([, state]) => state);
    const parts = [];
    for (const code of Object.keys(data.codes).sort((one, other) => Number(data.codes[other][2]) - Number(data.codes[one][2]))) {
      const mine = found.filter(([, state]) => state[0] === code);
      if (!mine.length || code === "A") continue;
      const [title, status, trouble] = data.codes[code];
      const part = make("section", "", make("h3", trouble ? "error" : "", `${title} (${mine.length})`), list(client, broker, mine, false));
      part.dataset.status = status;
      parts.push(part);
    }
    const agreed = found.filter(([, state]) => state[0] === "A");
    const used = make("details", "", make("summary", "", `${data.codes.A[0]} (${agreed.length})`), list(client, broker, agreed, true));
    used.dataset.status = "agreed";
    if (!parts.length) used.open = true;
    document.getElementById("pair-title").textContent = `${data.releases[client]} as the client of ${data.releases[broker]}`;
    body.replaceChildren(...parts, used);
    const link = document.getElementById("pair-link");
    link.hidden = !data.links[title(client, broker)];
    link.setAttribute("href", data.links[title(client, broker)] || "#");
    if (!dialog.open) dialog.showModal();
    document.getElementById("pair-close").focus();
    body.scrollTop = 0;
  };
  kiplint.open = (name) => {
    const [client, broker] = pairs.get(name) || [];
    if (client !== undefined && mode.pairs[client * size + broker] >= 0) {
      stand(client, broker, false);
      show(client, broker);
      return true;
    }
    if (dialog.open) dialog.close();
    return false;
  };
  dialog.addEventListener("close", () => {
    if (kiplint.address()[0]) kiplint.go("");
    buttons[here[0]][here[1]].focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.getElementById("pair-close").addEventListener("click", () => dialog.close());
  document.getElementById("pair-swap").addEventListener("click", () => {
    const name = title(here[1], here[0]);
    kiplint.go(name);
    kiplint.open(name);
  });
};
})();
