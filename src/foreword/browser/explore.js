// What can be seen and used in a frame: elements with role, name, state and selectors to try, headings, alerts,
// forms, and rows that are alike. Values of password fields are never read. Gives {facts, found}: plain data, and
// the elements themselves in the same order, so that a selector can be proven to lead to its element.
(frames, isSecret) => {
  const MOST = 3000, ROWS_LOOKED_AT = 100, LONG = 120;
  const IMPLICIT = {A: 'link', BUTTON: 'button', SELECT: 'combobox', TEXTAREA: 'textbox', SUMMARY: 'button',
    H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', IMG: 'img'};
  const INPUTS = {checkbox: 'checkbox', radio: 'radio', button: 'button', submit: 'button', reset: 'button',
    image: 'button', range: 'slider', number: 'spinbutton', search: 'searchbox', email: 'textbox', tel: 'textbox',
    text: 'textbox', url: 'textbox', '': 'textbox'};
  const USED = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch', 'tab',
    'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'slider', 'spinbutton', 'listbox', 'treeitem']);
  const clean = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, LONG);
  const quoted = (text) => JSON.stringify(text);
  const visible = (element) => {
    if (!element.checkVisibility({visibilityProperty: true})) return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && !element.closest('[aria-hidden="true"], [inert]');
  };
  const roleOf = (element) => {
    const given = (element.getAttribute('role') || '').split(' ')[0];
    if (given) return given;
    if (element.tagName === 'INPUT') return INPUTS[(element.type || '').toLowerCase()] ?? 'field';
    if (element.tagName === 'A') return element.hasAttribute('href') ? 'link' : '';
    if (element.tagName === 'SELECT' && (element.multiple || element.size > 1)) return 'listbox';
    if (element.isContentEditable && element.hasAttribute('contenteditable')) return 'textbox';
    return IMPLICIT[element.tagName] || '';
  };
  const labels = (element) => [...(element.labels || [])].map(label => label.innerText).join(' ');
  const nameOf = (element) => {
    const root = element.getRootNode();
    const by = (element.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean)
      .map(id => root.getElementById && root.getElementById(id)?.innerText).filter(Boolean).join(' ');
    const pressed = element.tagName === 'INPUT' && ['submit', 'button', 'reset'].includes(element.type)
      ? element.value || element.type.replace(/^./, letter => letter.toUpperCase()) : '';
    const inner = ['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName) ? '' : element.innerText
      || element.querySelector?.('img[alt]')?.alt;
    return clean(by || element.getAttribute('aria-label') || labels(element) || pressed || inner
      || element.getAttribute('alt') || element.getAttribute('title') || element.getAttribute('placeholder'));
  };
  const isMade = (id) => /\d{4,}|[0-9a-f]{8,}|^:r|^ember|^mui-|^radix-/i.test(id);
  const plainId = (id) => /^[A-Za-z_][\w-]*$/.test(id);
  const path = (element) => {
    const steps = [];
    for (let at = element; at && at.nodeType === Node.ELEMENT_NODE && at.tagName !== 'BODY'; at = at.parentElement) {
      if (at.id && plainId(at.id) && !isMade(at.id)) { steps.unshift('#' + at.id); break; }
      const alike = at.parentElement ? [...at.parentElement.children].filter(other => other.tagName === at.tagName) : [];
      steps.unshift(at.tagName.toLowerCase() + (alike.length > 1 ? `:nth-of-type(${alike.indexOf(at) + 1})` : ''));
    }
    return steps.join(' > ');
  };
  const selectors = (element, role, name) => {
    const tag = element.tagName.toLowerCase(), tries = [];
    for (const key of ['data-testid', 'data-test', 'data-cy']) {
      if (element.getAttribute(key)) tries.push(`[${key}=${quoted(element.getAttribute(key))}]`);
    }
    if (element.id && !isMade(element.id)) tries.push(plainId(element.id) ? '#' + element.id : `[id=${quoted(element.id)}]`);
    if (role && role !== 'field' && name && name.length < LONG) tries.push(`role=${role}[name=${quoted(name)}]`);
    if (element.getAttribute('name')) tries.push(`${tag}[name=${quoted(element.getAttribute('name'))}]`);
    if (tag === 'iframe' && element.title) tries.push(`iframe[title=${quoted(element.title)}]`);
    if (tag === 'iframe' && element.getAttribute('src')) tries.push(`iframe[src=${quoted(element.getAttribute('src'))}]`);
    if (name && name.length < 60 && !['input', 'select', 'textarea', 'iframe'].includes(tag)) tries.push(`text=${quoted(name)}`);
    return [...tries, path(element)].filter(Boolean);
  };
  const describe = (element, role) => {
    const name = nameOf(element), fact = {role: role || element.tagName.toLowerCase(), name};
    const type = element.tagName === 'INPUT' ? (element.type || '').toLowerCase() : '';
    if (type && type !== 'text') fact.type = type;
    if (type === 'checkbox' || type === 'radio') fact.checked = element.checked;
    else if (element.tagName === 'SELECT') {
      fact.value = clean([...element.selectedOptions].map(option => option.text).join(', '));
      fact.options = [...element.options].slice(0, 12).map(option => clean(option.text));
    } else if (isSecret(element)) fact.filled = element.value !== '';
    else if (['INPUT', 'TEXTAREA'].includes(element.tagName) && element.value) fact.value = clean(element.value);
    if (element.disabled || element.getAttribute('aria-disabled') === 'true') fact.disabled = true;
    if (element.required) fact.required = true;
    for (const key of ['expanded', 'selected', 'pressed', 'current']) {
      const state = element.getAttribute('aria-' + key);
      if (state) fact[key] = state;
    }
    if (role === 'link') fact.href = (element.getAttribute('href') || '').slice(0, LONG);
    return {fact, tries: [], about: [element.id, element.getAttribute('name') || '',
      element.getAttribute('autocomplete') || ''], frame: frames.indexOf(element)};
  };
  const shape = (element) => element.tagName + '.' + [...element.classList].sort().join('.');
  const short = (element) => {
    const tag = element.tagName.toLowerCase(), first = [...element.classList].find(name => plainId(name));
    return first ? `${tag}.${first}` : tag;
  };
  const cells = (row) => [...row.querySelectorAll('*')].filter(cell => cell.children.length === 0 || cell.classList.length)
    .filter(cell => visible(cell)).slice(0, 10).map(cell => [short(cell), clean(cell.innerText).slice(0, 60)])
    .filter(([, text]) => text);
  const facts = [], found = [], headings = [], alerts = [], forms = [], rows = [];
  const named = new Map();
  let passed = 0;
  const note = (element, role) => {
    if (/^H[1-6]$/.test(element.tagName) || role === 'heading') headings.push(clean(element.innerText));
    if (['alert', 'status', 'alertdialog', 'dialog'].includes(role) && clean(element.innerText)) alerts.push(clean(element.innerText));
    if (element.tagName === 'FORM') forms.push({selector: path(element), fields: [...element.elements]
      .filter(field => field.name && field.type !== 'hidden').map(field => field.name).slice(0, 20)});
  };
  const waiting = document.body ? [[document.body, null]] : [];
  while (waiting.length) {
    const [element, row] = waiting.pop();
    if (element.nodeType !== Node.ELEMENT_NODE || !element.checkVisibility()) continue;
    const role = roleOf(element);
    if (visible(element)) {
      note(element, role);
      const used = USED.has(role) || element.hasAttribute('onclick') || element.tagName === 'IFRAME'
        || (element.tagName === 'INPUT' && element.type !== 'hidden') || element.getAttribute('tabindex') === '0';
      if (used && role !== 'option') {
        // Which names are taken more than once is known only at the end; trying each would take long on a large page.
        const key = role + ' ' + nameOf(element);
        named.set(key, (named.get(key) || 0) + 1);
        if ((row && row.number >= ROWS_LOOKED_AT) || facts.length >= MOST) passed += 1;
        else { facts.push({...describe(element, role), row}); found.push(element); }
      }
    }
    const root = element.shadowRoot ?? element, within = new Map();
    if (root.children.length >= 4) {
      const counts = new Map();
      for (const child of root.children) {
        const kind = shape(child);
        if (!counts.has(kind)) counts.set(kind, []);
        counts.get(kind).push(child);
      }
      for (const members of counts.values()) {
        const first = members[0];
        if (members.length < 4 || ['OPTION', 'BR', 'LABEL', 'BUTTON', 'INPUT', 'A', 'HR', 'P', 'DT', 'DD', 'TD', 'TH'].includes(first.tagName)) continue;
        if (!visible(first)) continue;
        const parent = root === element ? path(element) : '';
        rows.push({count: members.length, selector: (parent ? parent + ' > ' : '') + short(first),
          like: clean(first.innerText), cells: cells(first)});
        members.forEach((member, number) => within.set(member, {number, text:
          number < ROWS_LOOKED_AT ? clean(member.innerText) : ''}));
      }
    }
    for (const child of [...root.children].reverse()) waiting.push([child, within.get(child) || row]);
  }
  facts.forEach((one, at) => {
    const role = roleOf(found[at]), alone = named.get(role + ' ' + one.fact.name) === 1;
    one.tries = selectors(found[at], role, alone ? one.fact.name : '');
  });
  return {facts: {elements: facts, headings, alerts, forms, rows, passed}, found};
}
