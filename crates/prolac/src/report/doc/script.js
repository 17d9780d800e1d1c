const search = document.getElementById('search');
const found = document.getElementById('found');
const tree = document.querySelector('.tree');
const entries = [...document.querySelectorAll('[data-what]')].map(e => ({ name: e.id, what: e.dataset.what }));
// "a-b" and "a_b" are one name.
const plain = text => text.toLowerCase().replaceAll('_', '-');
search.addEventListener('input', () => {
  const word = plain(search.value.trim());
  const rank = e => (plain(e.name).split('.').pop().startsWith(word) ? 0 : 1);
  const hits = word ? entries.filter(e => plain(e.name).includes(word)) : [];
  hits.sort((a, b) => rank(a) - rank(b) || a.name.length - b.name.length);
  found.replaceChildren(...hits.slice(0, 40).map(e => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    const what = document.createElement('small');
    link.href = '#' + e.name;
    link.textContent = e.name;
    what.textContent = ' ' + e.what;
    item.append(link, what);
    return item;
  }));
  tree.hidden = word !== '';
});
search.addEventListener('keydown', event => {
  if (event.key === 'Enter') found.querySelector('a')?.click();
  if (event.key === 'Escape') { search.value = ''; search.dispatchEvent(new Event('input')); }
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
