// The list of rules can be filtered by pack, severity and fix, and searched.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll(".md-content table")].filter(table =>
    [...table.querySelectorAll("thead th")].map(cell => cell.textContent.trim()).join() === "rule,severity,fix,what it finds")
  if (!tables.length) return
  const packOf = table => {
    let place = table.closest(".md-typeset__scrollwrap, .md-typeset__table") || table
    while (place && place.tagName !== "H2") place = place.previousElementSibling || place.parentElement
    return place
  }
  const packs = new Map(tables.map(table => [table, packOf(table)]))
  const nameOf = table => packs.get(table).id
  const options = (label, values) => `<select aria-label="${label}"><option value="">${label}</option>` +
    values.map(value => `<option>${value}</option>`).join("") + "</select>"
  const form = document.createElement("form")
  form.className = "rules-filter"
  form.innerHTML = '<input type="search" aria-label="Search rules" placeholder="Search rules"> ' +
    options("All packs", tables.map(nameOf)) + " " + options("All severities", ["error", "warning", "info", "off"]) + " " +
    options("With and without a fix", ["with a fix"]) + " <output></output>"
  packs.get(tables[0]).before(form)
  const [search, pack, severity, fix] = form.elements
  const filter = () => {
    let count = 0
    for (const table of tables) {
      let left = 0
      for (const row of table.tBodies[0].rows) {
        const cells = [...row.cells].map(cell => cell.textContent.trim())
        const fits = (!pack.value || pack.value === nameOf(table)) && (!severity.value || cells[1].includes(severity.value)) &&
          (!fix.value || cells[2] === "yes") && `${nameOf(table)}/${cells.join(" ")}`.toLowerCase().includes(search.value.toLowerCase())
        row.hidden = !fits
        left += fits
      }
      table.hidden = packs.get(table).hidden = left === 0
      count += left
    }
    form.lastElementChild.textContent = `${count} rules`
  }
  form.addEventListener("input", filter)
  form.addEventListener("submit", event => event.preventDefault())
  filter()
})
