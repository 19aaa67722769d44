// The elements of a frame that somebody sees, as [tag, attributes, children]; a string is a text.
// Passwords are never read. `frames` are the elements of the frames inside, which are read on their own. What is nested
// very deeply is told side by side, and beyond so many elements or characters it is only counted.
(frames, isSecret) => {
  const MOST = 150000, MOST_CHARS = 20e6, DEEPEST = 100, LONG = 120;
  const KEPT = ['id', 'name', 'role', 'type', 'class', 'alt', 'title', 'placeholder', 'for', 'data-testid', 'data-test',
    'data-id', 'aria-label', 'aria-expanded', 'aria-selected', 'aria-checked', 'aria-current', 'aria-disabled', 'rel',
    'target', 'action', 'method', 'autocomplete', 'colspan', 'rowspan'];
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED']);
  let count = 0, chars = 0, left = 0;
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
      else if (isSecret(element)) { if (element.value) kept.value = '[hidden]'; }
      else if (tag === 'SELECT') kept.value = [...element.selectedOptions].map(option => option.text.trim()).join(', ');
      else if (element.value && type !== 'file') kept.value = element.value.slice(0, LONG);
    }
    if (element.disabled) kept.disabled = 'true';
    for (const name in kept) chars += kept[name].length;
    return kept;
  };
  const children = (element) => {
    if (element.tagName === 'SLOT' && element.assignedNodes().length) return [...element.assignedNodes()];
    return [...(element.shadowRoot ?? element).childNodes];
  };
  const isShown = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true})
    && getComputedStyle(element).fontSize !== '0px';
  const text = (node, parent) => {
    const words = node.data.replace(/\s+/g, ' ').trim();
    if (!words || (parent && !isShown(parent)) || chars > MOST_CHARS) return null;
    chars += words.length;
    return words;
  };
  const isPart = (node) => node.nodeType === Node.TEXT_NODE
    || (node.nodeType === Node.ELEMENT_NODE && !SKIPPED.has(node.tagName));
  // An element without what is inside it; null where nobody sees it. `inner` says whether there may be more in it.
  const alone = (node) => {
    if (node.tagName === 'OPTION') return {made: ['option', {value: node.value.slice(0, LONG)}, [node.text.trim().slice(0, LONG)]]};
    if (!seen(node)) return null;
    if (++count > MOST || chars > MOST_CHARS) { left += 1; return null; }
    const kept = attributes(node), frame = frames.indexOf(node), tag = node.tagName.toLowerCase();
    if (frame >= 0) return {made: ['iframe', {...kept, '#': String(frame)}, []]};
    if (node.shadowRoot) kept['#shadow'] = 'true';
    return {made: [tag, kept, []], inner: tag !== 'textarea' && tag !== 'svg'};
  };
  const isEmpty = (node, below) => !below.length && !node.checkVisibility({visibilityProperty: true});
  const flat = (top) => {
    const all = [], waiting = [];
    const open = (node, texts) => {
      for (const child of children(node).filter(isPart).reverse()) {
        if (child.nodeType === Node.ELEMENT_NODE) waiting.push(child);
        else texts.unshift(text(child, node));
      }
      return texts.filter(words => words !== null);
    };
    all.push(...open(top, []));
    while (waiting.length) {
      const node = waiting.pop(), one = alone(node);
      if (one === null) continue;
      if (one.inner) one.made[2] = open(node, []);
      if (!isEmpty(node, one.made[2])) all.push(one.made);
    }
    return all;
  };
  const walk = (node, parent, depth) => {
    if (!isPart(node)) return null;
    if (node.nodeType === Node.TEXT_NODE) return text(node, parent);
    const one = alone(node);
    if (one === null || !one.inner) return one && one.made;
    const below = depth < DEEPEST ? children(node).map(child => walk(child, node, depth + 1)).filter(child => child !== null)
      : flat(node);
    if (isEmpty(node, below)) return null;
    one.made[2] = below;
    return one.made;
  };
  return {tree: document.body ? walk(document.body, null, 1) : null, left};
}
