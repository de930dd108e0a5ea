// Closes consent banners: by a known button, by a button that says so, else by taking the box away. Tells how many there were.
async ({ known, words, orders, most }) => {
  const roots = [document];
  for (const root of roots) for (const e of root.querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot);
  const every = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const seen = (e) => e.isConnected && e.getClientRects().length > 0;
  for (const selector of known) {
    const button = every(selector).find(seen);
    if (button) {
      button.click();
      return 1;
    }
  }
  const label = (e) => `${e.innerText || e.value || ""} ${e.getAttribute("aria-label") || ""}`.trim().toLowerCase();
  const says = (text, list) => list.some((word) => (word.length < 4 ? text === word || text.startsWith(word + " ") : text.includes(word)));
  const floats = (e) => e.matches("dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]") || /fixed|sticky/.test(getComputedStyle(e).position);
  const boxes = every("div, section, aside, dialog, form, footer").filter((e) => {
    if (!seen(e) || e.contains(document.querySelector("main, article")) || !floats(e)) return false;
    const text = (e.innerText || "").toLowerCase();
    return text.length > 0 && text.length < most && says(text, words);
  });
  const outer = boxes.filter((box) => !boxes.some((other) => other !== box && other.contains(box)));
  for (const box of outer) {
    const buttons = [...box.querySelectorAll("button, [role=button], input[type=button], input[type=submit], a")].filter(
      (e) => seen(e) && label(e).length < 60 && !(e.localName === "a" && /^https?:/.test(e.href) && !e.href.startsWith(location.href.split("#")[0] + "#"))
    );
    const press = orders.map((list) => buttons.find((e) => says(label(e), list))).find(Boolean);
    if (press) press.click();
  }
  // What no button has closed is no part of what is read.
  if (outer.length) await new Promise((done) => setTimeout(done, 300));
  for (const box of outer) if (seen(box)) box.remove();
  if (outer.length) document.documentElement.style.setProperty("overflow", "auto", "important");
  return outer.length;
}
