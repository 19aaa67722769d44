// What can be seen and used in a frame: elements with role, name and state, headings, alerts, forms, rows that are alike,
// what covers the page and whether it is still loading. Values of password fields are never read. Gives {facts, found}:
// plain data (`age` are the seconds since a page with scripts was opened), and for each element what selectors are made of, so that one can be proven to lead to its element.
(frames, isSecret, {tree, accessible, selectors, rowsIn, obstacles, errors}) => {
  const MOST = 3000, LONG = 120, MOST_OPTIONS = 12, MOST_HEADINGS = 50;
  const USED = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch', 'tab',
    'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'slider', 'spinbutton', 'listbox', 'treeitem']);
  // What an element is in, told where others have the same role and name.
  const PLACES = new Set(['dialog', 'alertdialog', 'form', 'group', 'region', 'navigation', 'complementary', 'tabpanel',
    'toolbar', 'table', 'grid', 'treegrid', 'list', 'listbox', 'menu', 'menubar', 'tree', 'radiogroup', 'search', 'article',
    'row', 'columnheader', 'rowheader', 'treeitem']);
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED', 'OPTION', 'OPTGROUP']);
  const INSIDE = 'a[href], button, input, select, textarea, [role=button], [role=link], [role=tab], [role=menuitem], [contenteditable=true]';
  const POINTERS = new Set(['pointer', 'grab', 'move']);
  const {tagOf, idOf, clean} = tree;
  const facts = [], found = [], headings = [], alerts = [], forms = [], rows = [];
  const turns = new Map();
  let passed = 0, heading = '';

  const isEditable = (element) => element.isContentEditable && element.hasAttribute('contenteditable');
  // A thing that takes clicks by its looks alone: its parts have the pointer as well, and are not told.
  const isPressable = (element, style, context) => {
    if (context.control || tagOf(element) === 'LABEL' || tagOf(element) === 'BODY') return false;
    const outer = tree.parent(element);
    const pointed = POINTERS.has(style.cursor) && style.pointerEvents !== 'none' && outer && getComputedStyle(outer).cursor !== style.cursor;
    const marked = element.hasAttribute('onclick') || element.getAttribute('tabindex') === '0';
    return (pointed || marked) && tree.hasSize(element) && !element.querySelector(INSIDE)
      && !element.shadowRoot?.querySelector(INSIDE)
      && clean(element.innerText, LONG + 1).length <= LONG;
  };
  const isControl = (element, role, style, context) => USED.has(role) || tagOf(element) === 'IFRAME' || tagOf(element) === 'FRAME'
    || tagOf(element) === 'SUMMARY' || isEditable(element) || isPressable(element, style, context);
  const label = (element, role) => {
    const name = accessible.name(element);
    if (name || ['textbox', 'searchbox', 'combobox', 'spinbutton', 'listbox'].includes(role)) return name;
    return ['IFRAME', 'FRAME'].includes(tagOf(element)) ? element.getAttribute('title') || '' : element.getAttribute('title') || accessible.text(element);
  };
  // The words before a field that nothing labels.
  const before = (element) => {
    for (let at = element, up = 0; at && up < 3; at = tree.parent(at), up++) {
      for (let beside = at.previousSibling; beside; beside = beside.previousSibling) {
        const words = clean(beside.nodeType === Node.TEXT_NODE ? beside.data : beside.innerText, LONG + 1);
        if (words) return words.length < 60 ? words : '';
      }
    }
    return '';
  };
  const states = (element, role, fact) => {
    const checked = element.getAttribute('aria-checked');
    if (checked && ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio'].includes(role)) fact.checked = checked === 'true';
    if (element.disabled || element.closest('[aria-disabled="true"], fieldset[disabled]')) fact.disabled = true;
    if (element.required || element.getAttribute('aria-required') === 'true') fact.required = true;
    for (const key of ['expanded', 'selected', 'pressed', 'current', 'invalid']) {
      const state = element.getAttribute('aria-' + key);
      if (state && state !== 'false') fact[key] = state;
    }
    if (element.getAttribute('aria-expanded') === 'false') fact.expanded = 'false';
  };
  const describe = (element, role, name, context) => {
    const tag = tagOf(element), fact = {role: role || (isEditable(element) ? 'textbox' : element.localName), name: clean(name, LONG)};
    const type = tag === 'INPUT' ? (element.type || '').toLowerCase() : '';
    if (type && !['text', 'submit', 'checkbox', 'radio'].includes(type)) fact.type = type;
    if (type === 'checkbox' || type === 'radio') fact.checked = element.checked;
    else if (tag === 'SELECT') {
      fact.value = clean([...element.selectedOptions].map(option => option.text).join(', '), LONG);
      fact.options = [...element.options].slice(0, MOST_OPTIONS).map(option => clean(option.text, LONG));
      if (element.options.length > MOST_OPTIONS) fact.options_in_all = element.options.length;
    } else if (isSecret(element)) fact.filled = element.value !== '';
    else if (['INPUT', 'TEXTAREA'].includes(tag) && type !== 'file' && type !== 'submit' && element.value) fact.value = clean(element.value, LONG);
    else if (tag !== 'INPUT' && isEditable(element) && element.innerText.trim()) fact.value = clean(element.innerText, LONG);
    states(element, role, fact);
    if (tag === 'A') fact.href = (element.getAttribute('href') || '').slice(0, LONG);
    if (!fact.name && ['textbox', 'searchbox', 'combobox', 'spinbutton', 'listbox', 'checkbox', 'radio', 'button'].includes(role)) {
      const words = role === 'button' ? '' : before(element);
      if (words) fact.near = words;
    }
    const title = fact.name ? '' : clean(element.getAttribute('title') || element.getAttribute('data-original-title'), LONG);
    if (title) fact.title = title;
    const shown = fact.name || tag === 'INPUT' ? null : selectors.icon(element);
    if (shown) fact.icon = shown.name;
    // It is in the page for assistive technology, and nobody can click on it as it is.
    if (context.clip || !tree.hasSize(element)) fact.visible = false;
    if (context.inert) fact.covered = true;  // something else is in front until it is closed
    return fact;
  };
  const note = (element, role, context) => {
    if (role === 'heading' && headings.length < MOST_HEADINGS) {
      heading = clean(element.innerText, LONG);
      if (heading) headings.push(heading);
    }
    if (['alert', 'status', 'log', 'alertdialog', 'dialog'].includes(role) && clean(element.innerText, 1)) alerts.push(clean(element.innerText, LONG));
    if (tagOf(element) === 'FORM') forms.push({selector: selectors.path(element), name: clean(accessible.name(element), LONG),
      fields: [...element.querySelectorAll('input, select, textarea')].filter(field => field.name && field.type !== 'hidden').map(field => field.name).slice(0, 20)});
  };
  const placeOf = (element, role, context) => {
    if (context.row && context.row.element === element) return {element, role, name: '', words: context.row.words};
    if (!PLACES.has(role) && !tree.idOf(element) && !element.getAttribute('data-testid')) return null;
    return {element, role, name: PLACES.has(role) ? accessible.name(element) : '', words: ''};
  };
  // What its makers call an element: its test id, and the component that it is all of.
  const makersWords = (element) => {
    const words = [selectors.testId(element)];
    for (let at = tree.parent(element); at && tree.elements(at).length === 1; at = tree.parent(at)) if (at.localName.includes('-')) words.push(at.localName);
    return words.join(' ').slice(0, LONG);
  };
  const isSender = (element) => (tagOf(element) === 'BUTTON' || tagOf(element) === 'INPUT') && ['submit', 'image'].includes(element.type) && element.form !== null;
  const add = (element, role, context) => {
    const name = label(element, role), known = role + ' ' + name;
    const turn = turns.get(known) || 0;
    turns.set(known, turn + 1);
    if ((context.row && context.row.isBeyond) || facts.length >= MOST) { passed += 1; return; }
    const row = context.row ? {number: context.row.number, text: context.row.text, menu: context.row.isMenu} : null;
    facts.push({fact: describe(element, role, name, context), row, form: context.form, heading, sends: isSender(element),
      about: [idOf(element), element.getAttribute('name') || '', element.getAttribute('autocomplete') || ''], makers: makersWords(element),
      frame: frames.indexOf(element), inside: context.places.filter(place => place.name && PLACES.has(place.role)).map(place => [place.role, clean(place.name, LONG)])});
    found.push({element, role, name, known, turn, places: context.places});
  };
  const visit = (element, outer) => {
    const style = getComputedStyle(element);
    if (SKIPPED.has(tagOf(element)) || tree.isGone(element, style)) return;
    if (element.getAttribute('aria-hidden') === 'true') return;
    const role = accessible.role(element), isDrawn = style.visibility === 'visible';
    const context = {...outer, clip: tree.clip(outer.clip, element, style), row: outer.members.get(element) || outer.row,
      inert: outer.inert || element.hasAttribute('inert')};
    if (isDrawn) note(element, role, context);
    if (tagOf(element) === 'FORM') context.form = forms.length - 1;
    const used = isDrawn && isControl(element, role, style, context);
    if (used) add(element, role, context);
    if (used) context.control = true;
    const place = placeOf(element, role, context);
    if (place) context.places = [place, ...context.places];
    const inner = ['SVG', 'IFRAME', 'FRAME', 'TEXTAREA', 'SELECT'].includes(tagOf(element)) ? [] : tree.elements(element);
    context.members = isEditable(element) ? new Map() : rowsIn(element, inner, rows);
    for (const child of inner.reverse()) waiting.push([child, context]);
  };
  const top = {clip: '', row: null, inert: false, form: -1, control: false, places: [], members: new Map()};
  const waiting = document.body ? [[document.body, top]] : [];
  while (waiting.length) visit(...waiting.pop());
  for (const one of found) one.isAlone = turns.get(one.known) === 1;
  facts.forEach((one, at) => { one.alone = found[at].isAlone; });
  const {cover, covered, busy} = obstacles(found.map(one => one.element));
  covered.forEach(at => { facts[at].fact.covered = true; });
  return {facts: {elements: facts, headings, alerts, errors: errors(false), forms, rows, passed, cover, busy,
    age: document.scripts.length ? performance.now() / 1000 : Infinity}, found};
}
