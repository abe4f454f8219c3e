// The copy button of a console block copies the commands, without the prompt and the output.
document.addEventListener("click", event => {
  const button = event.target.closest?.("[data-clipboard-target]")
  const block = button && document.querySelector(button.dataset.clipboardTarget)
  if (!block?.querySelector(".gp")) return
  const commands = []
  let continued = false
  for (const line of block.textContent.split("\n")) {
    if (continued || line.startsWith("$ ")) commands.push(continued ? line : line.slice(2))
    continued = (continued || line.startsWith("$ ")) && line.endsWith("\\")
  }
  button.dataset.clipboardText = commands.join("\n")
}, true)
