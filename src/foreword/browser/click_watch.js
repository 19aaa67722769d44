// What happens on a page while an element is clicked: whether the row that is clicked still says what it did, at the moment
// of the click, and which fields kept a form from being sent.
({accessible, rowAround}) => {
  const CLICKS = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];
  let watching = null;
  const end = () => {
    if (watching === null) return null;
    const {row, found, rejected, remove} = watching;
    remove();
    watching = null;
    // A script that asks a form whether it is valid fires the same event; the field becomes invalid to the user by a form
    // that is not sent.
    return {row, found, invalid: rejected.filter(field => field.matches(':user-invalid')).map(fieldError)};
  };
  const fieldError = (field) => {
    const name = accessible.name(field);
    return name ? `${name}: ${field.validationMessage}` : field.validationMessage;
  };
  const begin = (row) => {
    end();
    watching = {row, found: row, rejected: [], isChecked: row === null};
    const onClick = (event) => {
      if (!watching.isChecked) {
        const now = rowAround(event.composedPath()[0]);
        if (!now.around.includes(row)) watching.found = now.row;
        watching.isChecked = true;
      }
      if (watching.found !== row) { event.preventDefault(); event.stopImmediatePropagation(); }
    };
    const onInvalid = (event) => watching.rejected.push(event.composedPath()[0]);
    for (const name of CLICKS) addEventListener(name, onClick, {capture: true});
    addEventListener('invalid', onInvalid, {capture: true});
    watching.remove = () => {
      for (const name of CLICKS) removeEventListener(name, onClick, {capture: true});
      removeEventListener('invalid', onInvalid, {capture: true});
    };
    return true;
  };
  return {begin, end};
}
