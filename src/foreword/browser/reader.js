// A selector engine of Playwright's, which runs in a world of its own: whatever a page has made of its built-ins,
// they are the browser's here. Values come out in an attribute of an element that is in no document.
(() => {
  const tree = $FLAT_TREE$;
  const accessible = ($ACCESSIBLE$)(tree), selectors = ($SELECTORS$)(tree);
  const {rowsIn, rowAround} = ($ROWS$)({tree, accessible, selectors}), obstacles = ($OBSTACLES$)({tree, accessible});
  const errors = ($ERRORS$)({tree, accessible}), watch = ($CLICK_WATCH$)({accessible, rowAround});
  const readers = {dom: $DOM$, explore: $EXPLORE$};
  const secret = new WeakSet();  // fields that were seen to hold a password, whatever they are made into later
  const taken = [];
  let frames = [], found = [], pinned = null;
  const isSecret = (field) => {
    if (field.tagName === 'INPUT' && (field.type || '').toLowerCase() === 'password') secret.add(field);
    return secret.has(field);
  };
  const own = (element) => {
    const tag = element.tagName, type = (element.type || '').toLowerCase();
    if (isSecret(element)) return '[hidden]';
    if (tag === 'INPUT' && (type === 'checkbox' || type === 'radio')) return element.checked;
    if (tag === 'SELECT') return [...element.selectedOptions].map(option => option.text.trim()).join(', ');
    if (tag === 'INPUT' || tag === 'TEXTAREA') return element.value;
    return (element.innerText ?? element.textContent ?? '').trim();
  };
  const attribute = (element, name) => {
    if (name === 'value') return own(element);
    if ((name === 'href' || name === 'src') && typeof element[name] === 'string') return element[name];
    return element.getAttribute(name);
  };
  const part = (element, {selector, attribute: name}) => {
    const at = selector ? element.querySelector(selector) : element;
    return at === null ? null : name ? attribute(at, name) : own(at);
  };
  const framesIn = (root, most) => {
    const all = [], waiting = [root];
    while (waiting.length && all.length < most) {
      const at = waiting.pop();
      if (at.tagName === 'IFRAME' || at.tagName === 'FRAME') all.push(at);
      for (const child of [...(at.children || [])].reverse()) waiting.push(child);
      if (at.shadowRoot) waiting.push(at.shadowRoot);
    }
    return all;
  };
  const isOffered = (part) => part.matches('[role=option], option') || !tree.isReadable(part);
  // What is known of a list that scripts have built: the ids of what it opens, its value, and the texts around it but for
  // those of its options.
  const combobox = (element) => {
    const outer = element.closest('[role=combobox]'), parts = [element, ...element.querySelectorAll('[role=combobox], input')];
    const lists = [...(outer ? [outer] : []), ...parts].flatMap(part => ['aria-controls', 'aria-owns'].flatMap(name => (part.getAttribute(name) || '').split(/\s+/)));
    const around = [];
    for (let at = element, up = 0; at && up < 4; at = tree.parent(at), up++) around.push(tree.texts(at, 200, isOffered).join(' '));
    const isField = ['INPUT', 'TEXTAREA'].includes(element.tagName);
    return {lists: [...new Set(lists)].filter(Boolean), around, value: isField ? tree.clean(element.value, 2000) : '',
      is_editable: isField && !element.readOnly && !element.disabled,
      is_combobox: isField && (['combobox', 'listbox'].includes(element.getAttribute('role')) || ['list', 'both'].includes(element.getAttribute('aria-autocomplete')))};
  };
  // Whether a field that is no secret holds a text.
  const holds = (field, text) => !isSecret(field) && String(own(field)).replace(/\s+/g, ' ').includes(text);
  const value = (root, {what, at, row, alerts}) => {
    switch (what) {
      case 'dom': return readers.dom(frames, isSecret, {tree, accessible});
      case 'explore': {
        const seen = readers.explore(frames, isSecret, {tree, accessible, selectors, rowsIn, obstacles, errors});
        found = seen.found;
        return seen.facts;
      }
      case 'selectors': return at.map(number => selectors.tries(found[number].element, found[number]));
      case 'kind': return [root.tagName, (root.type || '').toLowerCase(), isSecret(root)];
      case 'options': return [...root.options].map(option => [option.text.trim(), option.value]);
      case 'taken': return taken.splice(0);
      case 'row': return rowAround(root);
      case 'combobox': return combobox(root);
      case 'pin': pinned = root; return true;
      case 'errors': return errors(alerts);
      case 'watch': return watch.begin(row);
      case 'watched': return watch.end();
    }
  };
  const queryAll = (root, body) => {
    const asked = JSON.parse(decodeURIComponent(body));
    switch (asked.what) {
      case 'frames': return frames = framesIn(root, asked.most);
      case 'pinned': return pinned?.isConnected ? [pinned] : [];
      case 'holds': return holds(root, asked.text) ? [root] : [];
      case 'is': return root === found[asked.at]?.element ? [root] : [root, root.ownerDocument.createElement('data')];
      case 'take': {
        if (taken.length < asked.most) taken.push(asked.fields === null ? own(root)
          : Object.fromEntries(asked.fields.map(([name, how]) => [name, part(root, how)])));
        return [];
      }
    }
    const holder = document.createElement('data');
    holder.setAttribute('value', JSON.stringify(value(root, asked)));
    return [holder];
  };
  return {queryAll, query: (root, body) => queryAll(root, body)[0] ?? null};
})()
