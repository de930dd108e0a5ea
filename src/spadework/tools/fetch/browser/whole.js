// The page as HTML, with open shadow roots and frames of its own origin in their places; null where that is over `most` characters.
({ most }) => {
  const inert = document.implementation.createHTMLDocument("");
  const inside = (frame) => {
    try {
      return frame.contentDocument && frame.contentDocument.body;
    } catch {
      return null;
    }
  };
  const into = (parent, nodes) => {
    for (const node of nodes) parent.append(copied(node));
    return parent;
  };
  const copied = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE || node.localName === "template") return inert.importNode(node, true);
    if (node.localName === "slot" && node.getRootNode() instanceof ShadowRoot) {
      const given = node.assignedNodes({ flatten: true });
      return into(inert.createDocumentFragment(), given.length ? given : node.childNodes);
    }
    const frame = node.localName === "iframe" && inside(node);
    if (frame) return into(inert.createElement("section"), frame.childNodes);
    return into(inert.importNode(node, false), (node.shadowRoot || node).childNodes);
  };
  document.querySelectorAll("noscript").forEach((e) => e.remove()); // scripts have run
  const nested = [...document.querySelectorAll("*")].some((e) => e.shadowRoot || (e.localName === "iframe" && inside(e)));
  let html;
  try {
    html = (nested ? copied(document.documentElement) : document.documentElement).outerHTML;
  } catch {
    html = document.documentElement.outerHTML; // nested deeper than scripts can follow
  }
  if (!/html/.test(document.contentType) && document.body) {
    const xml = document.getElementById("webkit-xml-viewer-source-xml"); // what the browser shows as a tree or as text
    html = xml ? xml.innerHTML : document.body.textContent;
  }
  const [entry] = performance.getEntriesByType("navigation");
  return {
    html: html.length > most ? null : html,
    status: entry ? entry.responseStatus : 0,
    type: document.contentType,
  };
}
