// Closes consent banners: by a known button, by a button that says so, else by taking the box away. Tells how many there were.
async () => {
  // Buttons of the common banners: the one that refuses first, then the one that is always there.
  const known = [
    "#onetrust-reject-all-handler", "#onetrust-accept-btn-handler", "#CybotCookiebotDialogBodyButtonDecline",
    "#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll", "#didomi-notice-disagree-button",
    "#didomi-notice-agree-button", ".qc-cmp2-summary-buttons button[mode=secondary]",
    ".qc-cmp2-summary-buttons button[mode=primary]", "[data-testid=uc-deny-all-button]",
    "[data-testid=uc-accept-all-button]", "#truste-consent-required", "#truste-consent-button",
    ".fc-cta-do-not-consent", ".fc-cta-consent", ".osano-cm-denyAll", ".osano-cm-accept-all", ".cky-btn-reject",
    ".cky-btn-accept", ".cmplz-deny", ".cmplz-accept", ".iubenda-cs-reject-btn", ".iubenda-cs-accept-btn",
    ".cm-btn-decline", ".cm-btn-accept-all", ".cc-deny", ".cc-dismiss", ".cc-btn", "#cookiescript_reject",
    "#cookiescript_accept", "[data-cookiefirst-action=reject]", "[data-cookiefirst-action=accept]",
    "#usercentrics-cmp [data-action-type=deny]",
  ];
  // What such a box says, and what its buttons say, in the languages most pages have.
  const words = [
    "cookie", "consent", "gdpr", "datenschutz", "einwilligung", "consentement", "consentimiento", "privacidad",
    "toestemming", "your privacy", "we value your", "samtycke", "zgod",
  ];
  const refuse = [
    "reject", "decline", "refuse", "deny", "only necessary", "necessary only", "only essential", "essential only",
    "without accepting", "ablehnen", "nur notwendige", "nur essenzielle", "refuser", "rechazar", "rifiuta",
    "weigeren", "avvisa", "odrzuć", "recusar",
  ];
  const close = ["close", "dismiss", "no thanks", "not now", "×", "✕", "schließen", "fermer", "cerrar", "chiudi", "sluiten"];
  const agree = [
    "accept", "agree", "allow", "got it", "i understand", "ok", "continue", "akzeptieren", "zustimmen", "verstanden",
    "accepter", "j'accepte", "aceptar", "acepto", "accetta", "accepteren", "akkoord", "godkänn", "akceptuj",
    "aceitar",
  ];
  const orders = [refuse, close, agree]; // refusing is tried first, agreeing last
  const most = 3000; // a box with more text than this is content, whatever it says
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
