// Selectors that may lead to an element, those that last longest first: test id, role and name, id, href, attributes,
// class, the same within a named place, and only then numbers. Each is tried by the caller before it is given out.
(tree) => {
  const {tagOf, idOf} = tree;
  const LONGEST_NAME = 80, MOST_TEXTS = 60, MOST_BESIDE = 50, MOST_PLACES = 3, MOST_CLASSES = 3;
  const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'data-automation-id'];
  // Attributes that say what an element is or does.
  const TELLING = ['name', 'aria-label', 'title', 'placeholder', 'alt', 'formaction'];
  const ALIKE = ['value', 'type', 'rel', 'for'];  // others often have the same
  const STATES = /^(is|has|ng|js|v)-|active|selected|current|hover|focus|open|expanded|collapsed|disabled|enabled|checked|visible|hidden|shown|odd|even|first|last|loading|dirty|valid|touched/i;
  const GENERATED = /\d{3,}|\d[a-f]|[a-f]\d|[0-9a-f]{8,}|^[:«_]?r\d|^ember|^mui-|^radix-|^headlessui|emotion|^css-|^sc-|^jsx-|^svelte-|[-_:]\d+$|\$\d/i;
  const ICON = /^(fa|bi|mdi|ti|ri|icon|glyphicon|octicon|pi|la|codicon|lucide|material|jp)-(?!(fw|lg|spin|solid|regular|brands|icon|icons)$)[a-z][\w-]*|[a-z]-icon$/i;
  const quoted = (text) => JSON.stringify(text);
  const isPlain = (id) => /^[A-Za-z_][\w-]*$/.test(id);
  const isGenerated = (id) => GENERATED.test(id);
  const byId = (id) => isPlain(id) ? '#' + id : `[id=${quoted(id)}]`;
  const classes = (element) => [...element.classList].filter(name => isPlain(name) && name.length > 2 && !/\d/.test(name)
    && !STATES.test(name) && !isGenerated(name) && !/[a-z][A-Z][a-z]*[A-Z]/.test(name));
  const lasting = (element) => {
    for (const key of TEST_IDS) if (element.getAttribute(key)) return `[${key}=${quoted(element.getAttribute(key))}]`;
    const id = idOf(element);
    return id && !isGenerated(id) ? byId(id) : '';
  };
  // A tag with its position among its like, up to an element with a lasting id; over a shadow root by `>>`.
  const path = (element) => {
    const steps = [];
    for (let at = element; at && tagOf(at) !== 'BODY'; at = at.parentElement) {
      const anchor = lasting(at);
      if (anchor && at.getRootNode().querySelectorAll(anchor).length === 1) { steps.unshift(anchor); break; }
      const beside = [...(at.parentElement ?? at.getRootNode()).children].filter(other => tagOf(other) === tagOf(at));
      steps.unshift(at.localName + (beside.length > 1 ? `:nth-of-type(${beside.indexOf(at) + 1})` : ''));
      if (!at.parentElement) break;
    }
    const host = element.getRootNode().host, inner = steps.join(' > ');
    return host ? `${path(host)} >> ${inner}` : inner;
  };
  const byName = (role, name) => {
    if (!role || !name || name.length > LONGEST_NAME) return '';
    const plain = tree.clean(name, name.length);
    if (plain === name) return `role=${role}[name=${quoted(name)}]`;
    // The sign of an icon font is no part of it; a number beside the words is.
    const words = plain.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/ /g, '[\\p{Co}\\s]+');
    return plain ? `role=${role}[name=/^[\\p{Co}\\s]*${words}[\\p{Co}\\s]*$/u]` : '';
  };
  // An element by a text that it has: exactly, since "Order 1" is a part of "Order 12".
  const byText = (element, words) => {
    const kind = short(element), is = `:text-is(${quoted(words)})`;
    return [`${kind}:has(${is})`, `${kind}${is}`];
  };
  const byAttributes = (element, names) => {
    const tag = element.localName, tries = [];
    const href = names === TELLING ? element.getAttribute('href') : '';
    if (href && !/^(#$|data:|javascript:)/i.test(href) && href.length < 200) tries.push(`${tag}[href=${quoted(href)}]`);
    const given = names !== TELLING ? [] : [...element.attributes].map(one => one.name).filter(name => name.startsWith('data-') && !TEST_IDS.includes(name));
    for (const name of [...names, ...given]) {
      const value = element.getAttribute(name);
      if (!value || value.length > LONGEST_NAME || (name.startsWith('data-') && isGenerated(value))) continue;
      if (name === 'value' && !['BUTTON', 'INPUT'].includes(tagOf(element))) continue;
      if (name === 'value' && !['submit', 'button', 'radio', 'checkbox', 'reset'].includes(element.type)) continue;
      tries.push(`${tag}[${name}=${quoted(value)}]`);
    }
    return tries;
  };
  const byClass = (element) => {
    const names = classes(element).slice(0, MOST_CLASSES);
    const tries = names.map(name => `${element.localName}.${name}`);
    if (names.length > 1) tries.push(`${element.localName}.${names.join('.')}`);
    return tries;
  };
  // A place around an element that has a name of its own.
  const placeSelectors = (place) => {
    const anchor = lasting(place.element);
    if (anchor) return [anchor];
    if (place.words) return byText(place.element, place.words);
    return [place.role === 'row' ? '' : byName(place.role, place.name)].filter(Boolean);  // all the words of a row are too many to last
  };
  const short = (element) => {
    const [first] = classes(element), role = element.getAttribute('role') || '';
    return element.localName + (first ? `.${first}` : isPlain(role) ? `[role=${role}]` : '');
  };
  // An element by what it and the elements around it are, without a number.
  const byKind = (element) => {
    const tries = [];
    let chain = short(element);
    for (let at = element.parentElement, up = 0; at && at !== document.body && up < 4; at = at.parentElement, up++) {
      tries.push(chain);
      chain = `${short(at)} > ${chain}`;
    }
    return tries;
  };
  // What a button without words shows instead: the word that its font draws, the class of its icon, or the drawing that it refers to.
  const icon = (element) => {
    const [written] = tree.iconWords(element);
    if (written) return {part: element, name: written};
    for (const part of [element, ...element.querySelectorAll('i, span, svg, use, img')].slice(0, 8)) {
      const drawing = /[#/]([\w-]*[a-z][\w-]*)(\.svg)?$/i.exec(part.getAttribute('href') || part.getAttribute('xlink:href') || (part === element ? '' : part.getAttribute('src')) || '');
      const named = part.getAttribute('data-icon') || [...part.classList].find(one => ICON.test(one)) || (part !== element && drawing && drawing[1]) || '';
      if (named) return {part, name: named};
    }
    return null;
  };
  const byIcon = (element) => {
    const shown = icon(element);
    if (shown && tree.iconWords(element)[0] === shown.name) return byText(element, shown.name);
    if (!shown || !shown.part.classList.contains(shown.name)) return [];
    return shown.part === element ? [`${element.localName}.${shown.name}`] : [`${element.localName}:has(${shown.part.localName}.${shown.name})`];
  };
  // An element within one around it, by a text that none beside that one has.
  const byWordsAround = (element, inner) => {
    const tries = [], own = new Set(tree.texts(element, MOST_TEXTS));
    for (let at = tree.parent(element), up = 0; at && at !== document.body && up < 16 && tries.length < 9; at = tree.parent(at), up++) {
      const beside = [...(at.parentNode?.children || [])].filter(other => other !== at && other.localName === at.localName);
      if (!beside.length || tagOf(at) === 'SLOT') continue;
      const inside = tree.texts(at, MOST_TEXTS);
      if (inside.length === MOST_TEXTS) break;
      const others = new Set(beside.slice(0, MOST_BESIDE).flatMap(other => tree.texts(other, MOST_TEXTS)));
      const words = inside.find(text => /\p{L}/u.test(text) && text.length > 1 && text.length <= LONGEST_NAME && !own.has(text) && !others.has(text));
      if (words) tries.push(...byText(at, words).flatMap(outer => inner.map(one => `${outer} >> ${one}`)));
    }
    return tries;
  };
  // All selectors worth trying for an element. `name` is '' where others of its role have the same; `places` are around it, the
  // nearest first; `turn` is its number among those of its role and name.
  const tries = (element, {role, name, isAlone, places, turn}) => {
    const id = idOf(element), named = byName(role, name), isCount = /\d/.test(name);
    const testIds = TEST_IDS.map(key => [key, element.getAttribute(key)]).filter(([, value]) => value)
      .map(([key, value]) => `[${key}=${quoted(value)}]`), best = [...testIds];
    if (isAlone && named && !isCount) best.push(named);
    if (id && !isGenerated(id)) best.push(byId(id));
    if (isAlone && named && isCount) best.push(named);  // a count or a date in a name changes
    const attributes = byAttributes(element, TELLING), alike = byAttributes(element, ALIKE), byClasses = byClass(element);
    const inPlaces = [];
    for (const place of places.slice(0, MOST_PLACES)) {
      for (const outer of placeSelectors(place)) {
        for (const inner of [named, ...testIds, ...attributes.slice(0, 2), ...byClasses.slice(-1)]) if (inner) inPlaces.push(`${outer} >> ${inner}`);
        if (place.words) inPlaces.push(`${outer} >> ${element.localName}`);
      }
    }
    const text = name && name.length < LONGEST_NAME && !['INPUT', 'SELECT', 'TEXTAREA', 'IFRAME'].includes(tagOf(element))
      ? [`text=${quoted(tree.clean(name, LONGEST_NAME))}`] : [];
    const inner = [named, ...byIcon(element), ...byClasses.slice(-1), short(element)].filter(Boolean);
    const written = tree.clean(element.innerText, LONGEST_NAME + 1);  // the name may hold what a style draws
    const words = written && written.length <= LONGEST_NAME && !named ? byText(element, written) : [];
    const around = [...words, ...byIcon(element), ...(isAlone && name ? [] : byWordsAround(element, inner))];
    const numbered = [...(id && isGenerated(id) ? [byId(id)] : []), ...(named ? [`${named} >> nth=${turn}`] : []), path(element)];
    return [...new Set([...best, ...attributes, ...(isAlone ? [] : inPlaces), ...byClasses, ...alike, ...text, ...(isAlone ? inPlaces : []), ...around, ...byKind(element), ...numbered])]
      .filter(selector => selector && !/\p{Cf}/u.test(selector));  // nobody who reads it sees such a character
  };
  const testId = (element) => TEST_IDS.map(key => element.getAttribute(key)).find(Boolean) || '';
  return {tries, path, short, classes, icon, isGenerated, testId};
}
