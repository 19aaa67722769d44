// What a page says is wrong: fields that are marked as invalid, and texts that a class or an id marks as errors. Alerts are
// among them where it is known that something is wrong: many a page tells of a success by an alert, too.
({tree, accessible}) => {
  const MOST = 12, LONG = 200;
  const SIGN = /(^|[-_\s])(errors?|errorlist|errornote|invalid|danger|destructive)([-_\s]|$)/i;
  const CANDIDATES = ['error', 'invalid', 'danger', 'destructive'].map(word => `[class*=${word} i], [id*=${word} i]`).join(', ');
  const FIELDS = 'input, select, textarea, [role=textbox], [role=combobox], [role=spinbutton]';
  const PRESSED = 'a, button, label, option, [role=button], [role=link], [role=menuitem], [role=tab]';
  const {clean} = tree;
  const isShown = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true}) && tree.hasSize(element);
  const isMarked = (element) => SIGN.test(`${element.getAttribute('class') || ''} ${tree.idOf(element)}`.replace(/([a-z])(?=[A-Z])/g, '$1-'));
  const described = (field) => ['aria-errormessage', 'aria-describedby'].flatMap(name => (field.getAttribute(name) || '').split(/\s+/))
    .map(id => id && field.getRootNode().getElementById?.(id)).filter(one => one && isShown(one)).map(one => clean(one.innerText, LONG)).find(Boolean) || '';
  const fieldError = (field) => {
    const words = described(field) || (field.matches(':user-invalid') ? field.validationMessage : ''), name = accessible.name(field);
    return words && name ? `${clean(name, LONG).replace(/[:\s]+$/, '')}: ${words}` : words;
  };
  const all = (root, selector) => {
    const found = [...root.querySelectorAll(selector)];
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) found.push(...all(element.shadowRoot, selector));
    return found;
  };
  return (withAlerts) => {
    const fields = all(document, '[aria-invalid=true], :user-invalid').filter(field => field.matches(FIELDS) && isShown(field));
    const marked = all(document, withAlerts ? `${CANDIDATES}, [role=alert]` : CANDIDATES).filter(one => (isMarked(one) || one.getAttribute('role') === 'alert') && !one.matches(FIELDS) && !one.closest(PRESSED) && isShown(one));
    const innermost = marked.filter(one => !marked.some(other => other !== one && one.contains(other) && clean(other.innerText, 1)));
    const texts = [...fields.map(fieldError), ...innermost.map(one => clean(one.innerText, LONG))].filter(text => /\p{L}/u.test(text));
    const unique = [...new Set(texts)];
    return unique.filter(text => !unique.some(other => other !== text && other.endsWith(`: ${text}`))).slice(0, MOST);
  };
}
