// Roles and names of elements, as assistive technology and Playwright's `role=` know them. Every selector made of them
// is tried, so that where this differs from Playwright a selector of another kind is given.
(tree) => {
  const {tagOf} = tree;
  const DEEPEST = 60;  // elements within each other that a name is gathered from
  const ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code'
    + ' columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed'
    + ' figure form generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee'
    + ' math meter menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph'
    + ' presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator'
    + ' slider spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer'
    + ' toolbar tooltip tree treegrid treeitem').split(' '));
  const TAGS = {BUTTON: 'button', TEXTAREA: 'textbox', OPTION: 'option', H1: 'heading', H2: 'heading', H3: 'heading',
    H4: 'heading', H5: 'heading', H6: 'heading', IMG: 'img', SVG: 'img', NAV: 'navigation', MAIN: 'main', ASIDE: 'complementary',
    DIALOG: 'dialog', TABLE: 'table', TR: 'row', TD: 'cell', TH: 'columnheader', LI: 'listitem', UL: 'list', OL: 'list',
    FORM: 'form', FIELDSET: 'group', DETAILS: 'group', PROGRESS: 'progressbar', METER: 'meter', OUTPUT: 'status',
    ARTICLE: 'article', SEARCH: 'search', P: 'paragraph', STRONG: 'strong', TIME: 'time', CODE: 'code', HR: 'separator'};
  const INPUTS = {button: 'button', checkbox: 'checkbox', file: 'button', image: 'button', number: 'spinbutton',
    radio: 'radio', range: 'slider', reset: 'button', submit: 'button'};
  const BY_CONTENT = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox'
    + ' menuitemradio option radio row rowheader switch tab tooltip treeitem').split(' '));
  const NAMELESS = new Set('caption code definition deletion emphasis generic insertion mark paragraph presentation strong subscript superscript term time'.split(' '));
  const FOCUSABLE = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'DETAILS', 'SUMMARY']);
  const native = (element) => {
    const tag = tagOf(element);
    if (tag === 'A' || tag === 'AREA') return element.hasAttribute('href') ? 'link' : '';
    if (tag === 'SELECT') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    if (tag === 'SECTION') return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : '';
    if (tag !== 'INPUT') return TAGS[tag] || '';
    const type = (element.type || '').toLowerCase();
    if (type === 'hidden') return '';
    if (['email', 'search', 'tel', 'text', 'url', ''].includes(type) && element.list) return 'combobox';
    return type === 'search' ? 'searchbox' : INPUTS[type] || 'textbox';
  };
  const isFocusable = (element) => FOCUSABLE.has(tagOf(element)) || element.hasAttribute('tabindex')
    || (tagOf(element) === 'A' && element.hasAttribute('href')) || element.isContentEditable;
  const role = (element) => {
    const given = (element.getAttribute('role') || '').toLowerCase().split(/\s+/).find(word => ROLES.has(word));
    if (!given) return native(element);
    if (given === 'none' || given === 'presentation') return isFocusable(element) ? native(element) : given;
    return given;
  };
  const isHidden = (element) => {
    const style = getComputedStyle(element);
    return style.display === 'none' || element.getAttribute('aria-hidden') === 'true'
      || (style.display !== 'contents' && tagOf(element) !== 'OPTION' && (style.visibility !== 'visible' || !element.checkVisibility()));
  };
  const drawn = (element, place) => {
    const content = getComputedStyle(element, place).content;
    const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(content || '');
    return quoted ? quoted[1].replace(/\\(.)/g, '$1') : '';
  };
  const spaced = (element, text) => getComputedStyle(element).display.startsWith('inline') && tagOf(element) !== 'BR' ? text : ` ${text} `;
  const content = (element, seen) => {
    let text = drawn(element, '::before');
    for (const child of tree.children(element)) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE && !seen.has(child)) text += spaced(child, alternative(child, seen, true));
    }
    return text + drawn(element, '::after');
  };
  const value = (element, known) => {
    if (known === 'textbox' || known === 'searchbox') return (element.type || '') === 'password' ? '' : element.value ?? element.textContent;
    if (known === 'combobox' || known === 'listbox') return element.selectedOptions ? [...element.selectedOptions].map(option => option.text).join(' ') : '';
    if (known === 'slider' || known === 'spinbutton') return element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow') || element.value || '';
    return null;
  };
  const own = (element, seen) => {
    const tag = tagOf(element), attribute = (name) => (element.getAttribute(name) || '').trim();
    const type = tag === 'INPUT' ? (element.type || '').toLowerCase() : '';
    if (['button', 'submit', 'reset'].includes(type)) return element.value.trim() || {submit: 'Submit', reset: 'Reset'}[type] || attribute('title');
    if (element.labels && element.labels.length && tag !== 'OUTPUT') {
      const words = [...element.labels].map(label => seen.has(label) ? '' : alternative(label, new Set([...seen, element]), true)).filter(text => text.trim()).join(' ');
      if (words.trim()) return words;
    }
    if (type === 'file') return 'Choose File';
    if (type === 'image') return attribute('alt') || attribute('title') || 'Submit';
    if (tag === 'TEXTAREA' || tag === 'SELECT' || tag === 'INPUT') {
      const hinted = tag === 'TEXTAREA' || ['text', 'password', 'search', 'tel', 'email', 'url'].includes(type);
      return attribute('title') || (hinted ? attribute('placeholder') : '');
    }
    const first = (name) => [...element.children].find(child => tagOf(child) === name);
    if (tag === 'FIELDSET' && first('LEGEND')) return alternative(first('LEGEND'), seen, true);
    if (tag === 'TABLE' && first('CAPTION')) return alternative(first('CAPTION'), seen, true);
    if (tag === 'IMG' || tag === 'AREA') return attribute('alt') || attribute('title');
    if (tag === 'SVG' && first('TITLE')) return first('TITLE').textContent;
    return '';
  };
  // The text that stands for an element: `inside` others or a label, its content does so whatever it is.
  const alternative = (element, before, inside) => {
    if (before.size > DEEPEST) return '';
    const seen = new Set([...before, element]), tag = tagOf(element);
    if (['STYLE', 'SCRIPT', 'NOSCRIPT', 'TEMPLATE'].includes(tag) || (inside && isHidden(element))) return '';
    const root = element.getRootNode(), ids = inside === 'reference' ? '' : element.getAttribute('aria-labelledby') || '';
    const named = ids.split(/\s+/).filter(Boolean).map(id => root.getElementById?.(id)).filter(Boolean)
      .map(other => other === element ? (element.getAttribute('aria-label') || content(element, seen)) : alternative(other, seen, 'reference')).join(' ');
    if (named.trim()) return named;
    const known = role(element);
    if (inside) {
      const chosen = value(element, known);
      if (chosen !== null) return chosen;
    }
    const label = (element.getAttribute('aria-label') || '').trim();
    if (label) return label;
    const native = known === 'none' || known === 'presentation' ? '' : own(element, seen);
    if (native.trim()) return native;
    if (BY_CONTENT.has(known) || (inside && !['INPUT', 'SELECT', 'TEXTAREA', 'IFRAME'].includes(tag))) {
      const text = content(element, seen);
      if (text.trim()) return text;
    }
    return element.getAttribute('title') || '';
  };
  // The name with every sign in it, as Playwright knows it; people are told it without those of icon fonts.
  const name = (element) => NAMELESS.has(role(element)) || !role(element) ? '' : alternative(element, new Set(), false).replace(/\s+/g, ' ').trim();
  const text = (element) => content(element, new Set()).replace(/\s+/g, ' ').trim();
  return {role, name, text, isFocusable};
}
