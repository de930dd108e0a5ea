// What the page does beside htmx: cards that open on hover and focus, the filter of the sources, the theme, copying, and checks of files.
"use strict";

(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const HOVER_MS = 120;
  const LEAVE_MS = 220;

  // Cards. A click or Enter keeps a card open; hover and focus only show it while one stays.
  let shown = null;
  let by = null;
  let kept = false;
  let timer = 0;

  const cardOf = (mark) => document.getElementById(mark.getAttribute("popovertarget"));

  function show(mark, keep) {
    clearTimeout(timer);
    const card = cardOf(mark);
    if (!card) return;
    if (!card.matches(":popover-open")) card.showPopover({ source: mark });
    shown = card;
    by = mark;
    kept = keep;
  }

  function hideSoon() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const held = kept || by?.matches(":focus-visible") || shown?.contains(document.activeElement);
      if (shown?.matches(":popover-open") && !held) shown.hidePopover();
    }, LEAVE_MS);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const mark = event.target.closest?.(".mark");
    if (mark) {
      clearTimeout(timer);
      if (!(kept && shown?.matches(":popover-open"))) timer = setTimeout(() => show(mark, false), HOVER_MS);
    } else if (event.target.closest?.(".card")) {
      clearTimeout(timer);
    } else {
      hideSoon();
    }
  });

  document.addEventListener("focusin", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) {
      // Not at once: the card that closes may be moving the focus. Nor when the focus comes back from the mark's own card.
      if (!mark.matches(":focus-visible") || cardOf(mark)?.contains(event.relatedTarget)) return;
      setTimeout(() => { if (document.activeElement === mark) show(mark, false); }, 0);
    } else if (!event.target.closest?.(".card")) hideSoon();
  });

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.(".mark");
    if (!mark) return;
    event.preventDefault();
    show(mark, true);
  });

  document.addEventListener("toggle", (event) => {
    if (event.target === shown && event.newState === "closed") kept = false;
  }, true);

  // The filter of the sources.
  function filter() {
    const words = document.querySelector("[data-filter]").value.trim().toLowerCase();
    const state = document.querySelector("[data-filter-state]").value;
    for (const row of all("#list > .source")) {
      const right = !state || row.dataset.state === state || (state === "read" && row.dataset.state === "cited");
      row.hidden = !(right && (!words || row.textContent.toLowerCase().includes(words)));
    }
  }
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter], [data-filter-state]")) filter();
  });

  // Dark and light.
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (document.documentElement.dataset.theme || system) === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    document.cookie = `spadework_theme=${next}; path=/; max-age=31536000; samesite=strict`;
  });

  // Copying needs a safe context; elsewhere the button stays hidden.
  function offerCopying() {
    if (navigator.clipboard) all("[data-copy]").forEach((button) => { button.hidden = false; });
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    const words = button.textContent;
    try {
      const answer = await fetch(button.dataset.copy);
      await navigator.clipboard.writeText(await answer.text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Could not copy";
    }
    setTimeout(() => { button.textContent = words; }, 1600);
  });

  // Asking: Enter asks, Shift+Enter begins a line; files over the limits are named before they are sent.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches("[data-ask] textarea")) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-most-files]")) return;
    const { mostFiles, mostBytes } = event.target.dataset;
    const files = [...event.target.files];
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const wrong = files.length > mostFiles ? `At most ${mostFiles} files can be given along.`
      : bytes > mostBytes ? "The files are too large together." : "";
    event.target.setCustomValidity(wrong);
    const error = event.target.form.querySelector("[data-error]");
    error.textContent = wrong;
    error.hidden = !wrong;
  });

  document.addEventListener("htmx:after:swap", () => {
    offerCopying();
    if (document.querySelector("[data-filter]")) filter();
    const field = document.querySelector("[data-focus]");
    field?.removeAttribute("data-focus");
    field?.focus();
  });
  document.addEventListener("htmx:after:request", (event) => {
    if (event.detail?.ctx?.sourceElement?.id === "findings") event.detail.ctx.sourceElement.removeAttribute("aria-busy");
  });
  offerCopying();
})();
