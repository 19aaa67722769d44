// The elements of a frame that somebody sees, as [tag, attributes, children]; a string is a text.
// Passwords are never read. `frames` are the elements of the frames inside, which are read on their own. What is nested
// very deeply is told side by side, and beyond so many elements or characters it is only counted.
(frames, isSecret, {tree, accessible}) => {
  const MOST = 150000, MOST_CHARS = 20e6, DEEPEST = 100, LONG = 120;
  const KEPT = ['id', 'name', 'role', 'type', 'class', 'alt', 'title', 'placeholder', 'for', 'data-testid', 'data-test',
    'data-id', 'aria-label', 'aria-expanded', 'aria-selected', 'aria-checked', 'aria-current', 'aria-disabled', 'rel',
    'target', 'action', 'method', 'autocomplete', 'colspan', 'rowspan'];
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED']);
  const CONTROLS = new Set(['A', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'SUMMARY']);
  const CONTROL_ROLES = new Set(['button', 'link', 'textbox', 'combobox', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'option', 'treeitem']);
  let count = 0, chars = 0, left = 0;
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
  // A text that somebody can read; one that is cut off is told where it names a control.
  const text = (node, parent, {clip, control}) => {
    const words = tree.clean(node.data, node.data.length);
    if (!words || (clip && !control) || (parent && !tree.isReadable(parent)) || chars > MOST_CHARS) return null;
    chars += words.length;
    return words;
  };
  const isPart = (node) => node.nodeType === Node.TEXT_NODE
    || (node.nodeType === Node.ELEMENT_NODE && !SKIPPED.has(node.tagName));
  const isControl = (node) => CONTROLS.has(tree.tagOf(node)) || CONTROL_ROLES.has(accessible.role(node));
  // An element without what is inside it; null where nobody sees it or anything in it. `inner` says how what is in it is
  // read, null where there is nothing.
  const alone = (node, outer) => {
    if (node.tagName === 'OPTION') return {made: ['option', {value: node.value.slice(0, LONG)}, [node.text.trim().slice(0, LONG)]], inner: null};
    const style = getComputedStyle(node);
    if (tree.isGone(node, style)) return null;
    if (++count > MOST || chars > MOST_CHARS) { left += 1; return null; }
    const kept = attributes(node), frame = frames.indexOf(node), tag = node.localName;
    if (frame >= 0) return {made: ['iframe', {...kept, '#': String(frame)}, []], inner: null};
    if (tag === 'svg' && accessible.name(node)) kept.title = accessible.name(node).slice(0, LONG);
    if (node.shadowRoot) kept['#shadow'] = 'true';
    const control = outer.control || isControl(node);
    const inner = {clip: tree.clip(outer.clip, node, style), control};
    // Drawn by itself, and not only by something in it.
    const drawn = style.visibility === 'visible' && (control || !inner.clip) && style.display !== 'contents';
    return {made: [tag, kept, []], drawn, inner: tag === 'textarea' || tag === 'svg' ? null : inner};
  };
  const isEmpty = (one, below) => !below.length && !one.drawn;
  const flat = (top, outer) => {
    const all = [], waiting = [];
    const open = (node, how, texts) => {
      for (const child of tree.children(node).filter(isPart).reverse()) {
        if (child.nodeType === Node.ELEMENT_NODE) waiting.push([child, how]);
        else texts.unshift(text(child, node, how));
      }
      return texts.filter(words => words !== null);
    };
    all.push(...open(top, outer, []));
    while (waiting.length) {
      const [node, how] = waiting.pop(), one = alone(node, how);
      if (one === null) continue;
      if (one.inner) one.made[2] = open(node, one.inner, []);
      if (one.inner ? !isEmpty(one, one.made[2]) : one.drawn !== false) all.push(one.made);
    }
    return all;
  };
  const walk = (node, parent, depth, outer) => {
    if (!isPart(node)) return null;
    if (node.nodeType === Node.TEXT_NODE) return text(node, parent, outer);
    const one = alone(node, outer);
    if (one === null || !one.inner) return one && one.drawn !== false ? one.made : null;
    const below = depth < DEEPEST ? tree.children(node).map(child => walk(child, node, depth + 1, one.inner)).filter(child => child !== null)
      : flat(node, one.inner);
    if (isEmpty(one, below)) return null;
    one.made[2] = below;
    return one.made;
  };
  return {tree: document.body ? walk(document.body, null, 1, {clip: '', control: false}) : null, left};
}
