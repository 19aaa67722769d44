// Elements beside each other that are alike: rows of a table, entries of a list, cards. The fields of a form are none, and
// neither is what says nothing: lines, icons, numbers beside a text.
({tree, accessible, selectors}) => {
  const LEAST = 4, LOOKED_AT = 100, LONG = 120, LONGEST_CELL = 60, MOST_CELLS = 10, LONGEST_MENU = 12;
  const NEVER = new Set(['OPTION', 'OPTGROUP', 'BR', 'HR', 'LABEL', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'P', 'DT', 'DD', 'TD', 'TH', 'IFRAME',
    'IMG', 'SVG', 'SLOT', 'COL', 'SCRIPT', 'STYLE', 'LINK', 'META', 'TEMPLATE', 'NOSCRIPT', 'CAPTION', 'THEAD', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);
  const FIELDS = 'input:not([type=hidden]):not([type=checkbox]):not([type=radio]), select, textarea, [contenteditable=true], [role=textbox], [role=combobox], [role=spinbutton]';
  const {tagOf, clean} = tree;
  const isTold = (element) => ['TR', 'LI', 'ARTICLE'].includes(tagOf(element)) || element.getAttribute('role') || selectors.classes(element).length;
  // What has neither a class nor a role is like another if the same things are in it; what has an id is one of a kind.
  const shape = (element) => {
    const kind = `${tagOf(element)}.${element.getAttribute('role') || ''}.${selectors.classes(element).sort()[0] || ''}`;
    if (isTold(element)) return kind;
    const id = tree.idOf(element);
    return `${kind}.${id && !selectors.isGenerated(id) ? id : ''}.${[...element.children].map(tagOf).join()}`;
  };
  // The words of a row, without those that a font draws as icons.
  const textOf = (element) => {
    let text = clean(element.innerText || accessible.text(element), LONG);
    for (const word of tree.iconWords(element)) text = clean(` ${text} `.replace(` ${word} `, ' '), LONG);
    return text;
  };
  const isForm = (members) => {
    const fields = members.slice(0, 3).map(member => member.querySelector(FIELDS)).filter(Boolean);
    if (fields.length < 2) return false;
    return new Set(fields.map(field => accessible.name(field) || field.name || field.id)).size > 1;
  };
  const isDecoration = (members) => {
    const texts = members.slice(0, 10).map(textOf);
    const telling = texts.filter(text => /\p{L}/u.test(text)).length;
    return telling * 2 < texts.length;
  };
  const areRows = (members) => {
    const [first] = members;
    if (members.length < LEAST || NEVER.has(tagOf(first)) || first.namespaceURI !== document.documentElement.namespaceURI) return false;
    const style = getComputedStyle(first);
    if (style.display === 'inline' || style.display === 'none') return false;
    if (tagOf(first) === 'A' && !first.children.length) return false;
    return !isDecoration(members) && !isForm(members);
  };
  // A text of a row that no other has, as in its first cell.
  const wordsOf = (members) => {
    const cells = members.map(member => tree.texts(member, MOST_CELLS)), counts = new Map();
    for (const words of cells.flatMap(texts => [...new Set(texts)])) counts.set(words, (counts.get(words) || 0) + 1);
    return cells.map(texts => texts.find(words => words.length > 1 && words.length <= LONG && counts.get(words) === 1) || '');
  };
  const isFirst = (row, selector, cell) => { try { return row.querySelector(selector) === cell; } catch { return false; } };
  const cells = (row) => {
    const table = row.closest('table'), heads = table ? [...table.querySelectorAll('thead th, tr:first-child > th')] : [];
    const told = [];
    for (const cell of row.querySelectorAll('*')) {
      if (told.length >= MOST_CELLS) break;
      if (cell.children.length && !['TD', 'TH'].includes(tagOf(cell)) && !cell.classList.length) continue;
      const text = clean(cell.innerText, LONGEST_CELL);
      if (!text || !cell.checkVisibility()) continue;
      const position = [...cell.parentElement.children].indexOf(cell) + 1;
      const tries = [selectors.short(cell), cell.localName, `${cell.localName}:nth-child(${position})`, `${selectors.short(cell.parentElement)} > ${cell.localName}:nth-child(${position})`];
      const selector = tries.find(one => isFirst(row, one, cell));
      const head = tagOf(cell) === 'TD' && heads.length ? clean(heads[cell.cellIndex]?.innerText, LONGEST_CELL) : '';
      if (selector) told.push(head ? [selector, text, head] : [selector, text]);
    }
    return told;
  };
  // A selector for all of them and nothing else, without numbers if there is one.
  const rowSelector = (element, members) => {
    const short = selectors.short(members[0]), outer = selectors.path(element);
    const whole = outer && element !== document.body ? `${outer}${element.shadowRoot ? ' >> ' : ' > '}${short}` : short;
    const root = members[0].getRootNode();
    if (!whole.includes(':nth-of-type') || root !== document) return whole;
    let chain = short;
    for (let at = members[0].parentElement, up = 0; at && at !== document.body && up < 5; at = at.parentElement, up++) {
      const found = root.querySelectorAll(chain);
      if (found.length === members.length && found[0] === members[0]) return chain;
      chain = `${selectors.short(at)} > ${chain}`;
    }
    return whole;
  };
  // Whether each of them is one thing to press and nothing else, as in a menu.
  const areMenu = (members) => members.length <= LONGEST_MENU && members.every(member => {
    const pressed = member.querySelectorAll('a, button, [role=button], [role=menuitem], [role=tab]');
    return pressed.length === 1 && textOf(pressed[0]) === textOf(member);
  });
  // The nearest row that an element is in, '' for none, and the texts of the element and of all around it up to that row.
  const ROW_ROLES = new Set(['row', 'listitem', 'treeitem', 'article']);
  const isOneOfAlike = (element) => {
    const outer = tree.parent(element);
    return outer !== null && areRows(tree.elements(outer).filter(other => shape(other) === shape(element)));
  };
  const rowAround = (element) => {
    const own = textOf(element), around = [];
    let row = '';
    for (let at = element; at && at !== document.body && !row; at = tree.parent(at)) {
      const text = textOf(at);
      around.push(text);
      if (text !== own && (ROW_ROLES.has(accessible.role(at)) || isOneOfAlike(at))) row = text;
    }
    return {row, around};
  };
  // The rows among the children of an element, as members with what is to be known of each; they are added to `rows`.
  const rowsIn = (element, inner, rows) => {
    const found = new Map(), kinds = new Map();
    if (inner.length < LEAST) return found;
    for (const child of inner) {
      const kind = shape(child);
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(child);
    }
    for (const members of kinds.values()) {
      if (!areRows(members)) continue;
      const looked = members.slice(0, LOOKED_AT), texts = looked.map(textOf), words = wordsOf(looked);
      const isMenu = areMenu(members);
      rows.push({count: members.length, selector: rowSelector(element, members), like: texts[0], cells: cells(members[0]), menu: isMenu});
      members.forEach((member, number) => found.set(member, {element: member, number, isMenu, isBeyond: number >= LOOKED_AT,
        text: texts[number] || '', words: words[number] || ''}));
    }
    return found;
  };
  return {rowsIn, rowAround};
}
