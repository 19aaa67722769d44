// What stands between somebody and the elements of a page: a dialog or a layer that covers them, or a page that is still
// loading.
({tree, accessible}) => {
  const MOST = 200, LEAST = 2, MOSTLY = 0.6, LONG = 120, FEW = 3, LARGE = 0.25;
  const WAITING = /(^|[-_\s])(loading|loader|spinner|splash|skeleton|preloader)([-_\s]|$)/i;
  const {clean, tagOf} = tree;
  const at = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const isFree = (element, hit) => !hit || tree.contains(element, hit) || tree.contains(hit, element)
    || [...(element.labels || [])].some(label => tree.contains(label, hit));
  // The outermost element over the page that something in front belongs to.
  const layer = (hit) => {
    let outermost = null;
    for (let one = hit; one && one !== document.body; one = tree.parent(one)) {
      const role = accessible.role(one), position = getComputedStyle(one).position;
      if (role === 'dialog' || role === 'alertdialog') return one;
      if (position === 'fixed' || position === 'absolute') outermost = one;
    }
    return outermost;
  };
  const dialogs = () => [...document.querySelectorAll('dialog[open], [role=dialog], [role=alertdialog]')]
    .filter(one => one.checkVisibility({visibilityProperty: true}) && tree.hasSize(one));
  // What is in front: an open dialog, or what stands in the middle, since a shade that takes the clicks has no words.
  const inFront = (over) => dialogs().find(one => tree.contains(over, one) || tree.contains(one, over)) || dialogs().at(-1)
    || (clean(over.innerText, 1) ? over : layer(at(innerWidth / 2, innerHeight / 2))) || over;
  const nameOf = (element) => clean(accessible.name(element) || element.querySelector('h1, h2, h3, h4')?.innerText || element.innerText, LONG);
  const coverOf = (elements) => {
    const behind = [], beyond = [], layers = new Map();
    let looked = 0;
    for (const [number, element] of elements.entries()) {
      const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
      if (looked >= MOST || !box.width || !box.height || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {
        beyond.push(number);
        continue;
      }
      looked += 1;
      const hit = at(x, y);
      if (isFree(element, hit)) continue;
      const over = layer(hit);
      if (!over || tree.contains(over, element)) continue;
      behind.push(number);
      layers.set(over, (layers.get(over) || 0) + 1);
    }
    if (!layers.size) return {cover: '', covered: []};
    const [over] = [...layers].sort((one, other) => other[1] - one[1])[0];
    const shown = inFront(over);
    const others = looked - elements.filter(element => tree.contains(shown, element) && tree.hasSize(element)).length;
    if (behind.length < LEAST || behind.length < MOSTLY * others) return {cover: '', covered: []};
    const isDialog = ['dialog', 'alertdialog'].includes(accessible.role(shown));
    return {cover: `${isDialog ? 'a dialog' : 'something'} covers the page: ${nameOf(shown) || shown.localName}`,
      covered: [...behind, ...beyond.filter(number => ![over, shown].some(one => tree.contains(one, elements[number])))]};
  };
  // What stands for something that is still to come: a skeleton of whatever size, or a sign over much of the page.
  const isWaiting = (element) => {
    const named = `${element.getAttribute('class') || ''} ${tree.idOf(element)} ${element.getAttribute('data-testid') || ''}`;
    const words = WAITING.exec(named.replace(/([a-z])(?=[A-Z])/g, '$1-')), box = element.getBoundingClientRect();
    if (!words || !element.checkVisibility({visibilityProperty: true, opacityProperty: true})) return false;
    return box.width * box.height > (words[2].toLowerCase() === 'skeleton' ? 0 : LARGE * innerWidth * innerHeight);
  };
  const busyOf = (elements) => {
    if (document.readyState === 'loading') return 'its document is not complete';
    const isShown = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true}) && tree.hasSize(element);
    if ([...document.querySelectorAll('[aria-busy=true]')].some(isShown)) return 'a part of it says that it is busy';
    const bars = [...document.querySelectorAll('progress:not([value]), [role=progressbar]:not([aria-valuenow])')];
    if (bars.some(isShown)) return 'it shows progress';
    if ([...document.querySelectorAll('[class*=load i], [class*=spinner i], [class*=splash i], [class*=skeleton i], [id*=load i], [id*=splash i], [data-testid*=skeleton i]')].some(isWaiting)) return 'it shows that it loads';
    if (document.scripts.length && elements.length < FEW && document.readyState !== 'complete') return 'scripts are still loaded';
    if (document.scripts.length && !elements.length && document.body && !clean(document.body.innerText, 1)) return 'it is empty so far';
    return '';
  };
  return (elements) => ({...coverOf(elements), busy: busyOf(elements)});
}
