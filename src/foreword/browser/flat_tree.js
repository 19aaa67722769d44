// A document as it is drawn: shadow roots opened, slots filled, wrappers without a box (`display: contents`) looked
// through. Shared by what reads pages.
(() => {
  // Without the signs of icon fonts and without characters that nobody sees, such as zero-width spaces.
  const clean = (text, longest) => (text || '').replace(/\p{Co}/gu, ' ').replace(/\p{Cf}/gu, '').replace(/\s+/g, ' ').trim().slice(0, longest);
  // A form has its fields as properties, so one that is named "id" or "tagName" stands in place of the form's own.
  const tagOf = (element) => element instanceof HTMLFormElement ? 'FORM' : element.tagName.toUpperCase();
  const idOf = (element) => element.getAttribute('id') || '';
  const children = (node) => {
    if (node.nodeType === Node.ELEMENT_NODE && tagOf(node) === 'SLOT') {
      const assigned = node.assignedNodes();
      if (assigned.length) return [...assigned];
    }
    return [...(node.shadowRoot ?? node).childNodes];
  };
  const elements = (node) => children(node).filter(child => child.nodeType === Node.ELEMENT_NODE);
  const parent = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const contains = (outer, inner) => {
    for (let at = inner; at; at = parent(at)) if (at === outer) return true;
    return false;
  };
  // Whether neither an element nor anything in it is drawn. `checkVisibility` is false for `display: contents` as well,
  // and whole applications are wrapped in that.
  const isGone = (element, style) => style.display === 'none' || (style.display !== 'contents' && !element.checkVisibility());
  const hasSize = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  // What cuts off the inside of an element: nothing (''), or an element without a size, which cuts off what is in its
  // flow ('flow') or whatever it holds ('all'). A body of no height cuts off nothing: the window shows it.
  const clip = (outer, element, style) => {
    let inherited = outer;
    if (style.position === 'fixed' || (style.position === 'absolute' && outer === 'flow')) inherited = '';
    if (style.display === 'contents' || style.overflow === 'visible' || element === document.body || hasSize(element)) return inherited;
    return style.position === 'static' ? 'flow' : 'all';
  };
  const boxed = (element) => {
    let at = element;
    while (at && getComputedStyle(at).display === 'contents') at = parent(at);
    return at;
  };
  // Whether somebody can read a text in an element.
  const isReadable = (element) => {
    const style = getComputedStyle(element), box = boxed(element);
    return style.visibility === 'visible' && style.fontSize !== '0px'
      && (box === null || box.checkVisibility({opacityProperty: true}));
  };
  const WORDLESS = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG']);
  // The first texts in an element, each as it stands in one place: what scripts write in parts is one text.
  const texts = (element, most, isSkipped = () => false) => {
    const found = [], waiting = [element];
    while (waiting.length && found.length < most) {
      const node = waiting.pop();
      if (node.nodeType === Node.TEXT_NODE) {
        let text = node.data;
        while (waiting.at(-1)?.nodeType === Node.TEXT_NODE && waiting.at(-1).parentNode === node.parentNode) text += waiting.pop().data;
        const words = clean(text, text.length);
        if (words) found.push(words);
      } else if (node.nodeType === Node.ELEMENT_NODE && !WORDLESS.has(tagOf(node)) && !isSkipped(node)) waiting.push(...children(node).reverse());
    }
    return found;
  };
  const ICON_FONT = /icon|material-symbols/i, ICON_WORD = /^[a-z][a-z0-9_]{1,40}$/;
  // Words that a font draws as icons, such as delete or chevron_right.
  const iconWords = (element) => [...element.querySelectorAll('*')].slice(0, 40)
    .filter(part => !part.children.length && ICON_FONT.test(`${part.getAttribute('class') || ''} ${part.localName}`))
    .map(part => part.textContent.trim()).filter(word => ICON_WORD.test(word));
  return {clean, texts, iconWords, tagOf, idOf, children, elements, parent, contains, isGone, hasSize, clip, isReadable};
})()
