// A selector engine of Playwright's, which runs in a world of its own: whatever a page has made of its built-ins,
// they are the browser's here. Values come out in an attribute of an element that is in no document.
(() => {
  const tree = $FLAT_TREE$;
  const accessible = ($ACCESSIBLE$)(tree), selectors = ($SELECTORS$)(tree);
  const rowsIn = ($ROWS$)({tree, accessible, selectors}), obstacles = ($OBSTACLES$)({tree, accessible});
  const readers = {dom: $DOM$, explore: $EXPLORE$};
  const secret = new WeakSet();  // fields that were seen to hold a password, whatever they are made into later
  const taken = [];
  let frames = [], found = [];
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
  const value = (root, {what, at}) => {
    switch (what) {
      case 'dom': return readers.dom(frames, isSecret, {tree, accessible});
      case 'explore': {
        const seen = readers.explore(frames, isSecret, {tree, accessible, selectors, rowsIn, obstacles});
        found = seen.found;
        return seen.facts;
      }
      case 'selectors': return at.map(number => selectors.tries(found[number].element, found[number]));
      case 'kind': return [root.tagName, (root.type || '').toLowerCase(), isSecret(root)];
      case 'options': return [...root.options].map(option => [option.text.trim(), option.value]);
      case 'taken': return taken.splice(0);
    }
  };
  const queryAll = (root, body) => {
    const asked = JSON.parse(decodeURIComponent(body));
    switch (asked.what) {
      case 'frames': return frames = framesIn(root, asked.most);
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
