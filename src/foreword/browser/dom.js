// The elements of a frame that somebody sees, as [tag, attributes, children]; a string is a text.
// Passwords are never read. `frames` are the elements of the frames inside, which are read on their own.
(frames) => {
  const MOST = 150000, LONG = 120;
  const KEPT = ['id', 'name', 'role', 'type', 'class', 'alt', 'title', 'placeholder', 'for', 'data-testid', 'data-test',
    'data-id', 'aria-label', 'aria-expanded', 'aria-selected', 'aria-checked', 'aria-current', 'aria-disabled', 'rel',
    'target', 'action', 'method', 'autocomplete', 'colspan', 'rowspan'];
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED']);
  let count = 0, left = 0;
  const seen = (element) => {
    if (!element.checkVisibility()) return false;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) return true;
    const style = getComputedStyle(element);
    return style.display === 'contents' || style.overflow === 'visible';
  };
  const attributes = (element) => {
    const kept = {};
    for (const name of KEPT) {
      const value = element.getAttribute(name);
      if (value) kept[name] = value.slice(0, LONG);
    }
    const href = element.getAttribute('href');
    if (href && !/^(data|javascript):/i.test(href.trim())) kept.href = href.slice(0, LONG);
    const tag = element.tagName;
    if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT') {
      const type = (element.type || '').toLowerCase();
      if (type === 'checkbox' || type === 'radio') kept.checked = String(element.checked);
      else if (type === 'password') { if (element.value) kept.value = '[hidden]'; }
      else if (tag === 'SELECT') kept.value = [...element.selectedOptions].map(option => option.text.trim()).join(', ');
      else if (element.value && type !== 'file') kept.value = element.value.slice(0, LONG);
    }
    if (element.disabled) kept.disabled = 'true';
    return kept;
  };
  const children = (element) => {
    if (element.tagName === 'SLOT' && element.assignedNodes().length) return [...element.assignedNodes()];
    return [...(element.shadowRoot ?? element).childNodes];
  };
  const text = (node, parent) => {
    const words = node.data.replace(/\s+/g, ' ').trim();
    return words && (!parent || parent.checkVisibility({visibilityProperty: true})) ? words : null;
  };
  const walk = (node, parent) => {
    if (node.nodeType === Node.TEXT_NODE) return text(node, parent);
    if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.tagName)) return null;
    if (node.tagName === 'OPTION') return ['option', {value: node.value.slice(0, LONG)}, [node.text.trim().slice(0, LONG)]];
    if (!seen(node)) return null;
    if (++count > MOST) { left += 1; return null; }
    const kept = attributes(node), frame = frames.indexOf(node);
    if (node.tagName === 'TEXTAREA') return ['textarea', kept, []];
    if (node.tagName.toLowerCase() === 'svg') return ['svg', kept, []];
    if (frame >= 0) return ['iframe', {...kept, '#': String(frame)}, []];
    if (node.shadowRoot) kept['#shadow'] = 'true';
    const below = children(node).map(child => walk(child, node)).filter(child => child !== null);
    if (!below.length && !node.checkVisibility({visibilityProperty: true})) return null;
    return [node.tagName.toLowerCase(), kept, below];
  };
  return JSON.stringify({tree: document.body ? walk(document.body, null) : null, left});
}
