// Leaves the rows of the index that have every word of the search field, and the sections that have such rows.
const field = document.getElementById("search");
const found = document.getElementById("found");
const sections = [...document.querySelectorAll("main section")];

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
  let count = 0;
  for (const section of sections) {
    let rows = 0;
    for (const row of section.querySelectorAll("tr")) {
      row.hidden = !words.every((word) => row.dataset.words.includes(word));
      rows += row.hidden ? 0 : 1;
    }
    section.hidden = rows === 0;
    count += rows;
  }
  found.textContent = words.length === 0 ? "" : count === 1 ? "1 class" : `${count} classes`;
  history.replaceState(null, "", words.length === 0 ? location.pathname : "?" + encodeURIComponent(field.value));
}

field.value = decodeURIComponent(location.search.slice(1));
field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  const first = event.key === "Enter" && document.querySelector("main tr:not([hidden]) a");
  if (first) location.href = first.href;
});
if (field.value) show();
