// Small additions to the theme; loaded by every page, see docs/conf.py.
"use strict";

// A page with a long table gets a field that filters its rows by words.
const LONG = 40; // rows
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll(".bd-article table")];
  const long = tables.find((table) => table.tBodies[0]?.rows.length >= LONG);
  if (!long) return;
  const below = tables.slice(tables.indexOf(long));
  const rows = below.flatMap((table) => [...(table.tBodies[0]?.rows || [])]);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const field = document.createElement("input");
  field.type = "search";
  field.className = "form-control table-filter";
  field.placeholder = "Filter the rows below";
  field.setAttribute("aria-label", field.placeholder);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
    rows.forEach((row, number) => {
      row.hidden = !words.every((word) => texts[number].includes(word));
    });
  });
  const place = long.closest(".pst-scrollable-table-container") || long;
  place.before(field);
});
