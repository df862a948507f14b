// Searches the guide for the dialog of Ctrl+K and for search.html; docs/_ext/site_search.py writes the index.
"use strict";

window.siteSearch = (() => {
  const BOOST = { title: 5, heading: 2, name: 2, text: 1 };
  const KIND = { page: 1.25, section: 1, error: 1, term: 0.9, symbol: 0.9 };
  const OTHERS = 4; // records of a page that count beside the best one
  const OTHER = 0.35; // of their score
  const SYNONYM = 0.8; // of the weight of a word of the query
  const SHARE = 2; // how much more all terms of a query are than half of them
  const ALONE = 0.2; // what a single term of many is worth
  const COMMON = 0.25; // of a word that is on every page
  const SHOWN = 12; // results
  const LABELS = { error: "Error", term: "Glossary", symbol: "API" };
  const root = document.documentElement.dataset.content_root || "./";
  let index; // of siteSearchIndex, made once
  let loading;

  // -- Words -------------------------------------------------------------------------

  // `torch.load`, `map_location` and `cudaMalloc` are found as a whole and by their parts.
  function tokenize(text) {
    const found = [];
    for (const word of text.match(/[\p{L}\p{N}_][\p{L}\p{N}_.:-]*/gu) || []) {
      const whole = word.replace(/[.:-]+$/, "");
      const parts = whole.split(/[_.:-]+|(?<=[a-z])(?=[A-Z])/).filter((part) => part);
      found.push(whole, ...(parts.length > 1 ? parts : []));
    }
    return found;
  }

  // Lower case, and without the endings of English: a query says hangs, a page hang.
  function stem(word) {
    let term = word.toLowerCase();
    if (/[_.:\d]/.test(term)) return term;
    if (term.length > 4) term = term.replace(/ies$/, "y").replace(/([^su])s$/, "$1");
    if (term.length > 6) term = term.replace(/(ing|ed)$/, "");
    return term.length > 3 ? term.replace(/([bdgmnprt])\1$/, "$1") : term;
  }

  const processTerm = (word) => {
    const term = word.toLowerCase();
    return index.stop.has(term) || term.length < 2 ? null : stem(term);
  };
  const termsOf = (text) => tokenize(text).map(processTerm).filter((term) => term);
  const weightOf = (term) => (index.common.has(term) ? COMMON : 1);

  const wordsOf = (text) =>
    (text.match(/[\p{L}\p{N}_][\p{L}\p{N}_.:-]*/gu) || [])
      .map((word) => stem(word.replace(/[.:-]+$/, "")));

  // The other words for what a query says: each with the term of the query that led to it.
  function synonymsOf(query) {
    const text = ` ${wordsOf(query).join(" ")} `;
    const added = new Map();
    for (const group of index.synonyms) {
      const said = group.find((phrase) => text.includes(` ${phrase.join(" ")} `));
      if (!said) continue;
      for (const phrase of group)
        for (const term of phrase)
          if (!said.includes(term) && !index.stop.has(term))
            added.set(term, { from: said, weight: SYNONYM / phrase.length });
    }
    return added;
  }

  // -- The index ---------------------------------------------------------------------

  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}_static/search/${name}`;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`cannot load ${script.src}`));
      document.head.append(script);
    });
  }

  function build({ kinds, pages, records, words, synonyms, stop, common, after }) {
    const vocabulary = words.split(" ");
    const textOf = (steps) => {
      let place = 0;
      if (!steps) return "";
      return steps.split(" ")
        .map((step) => vocabulary[(place += parseInt(step, 36))]).join(" ");
    };
    index = {
      pages: pages.map(([name, address, title, part]) => ({ name, address, title, part })),
      stop: new Set(stop),
      common: new Set(common.map(stem)),
      after: new Set(after),
      synonyms: synonyms.map(
        (group) => group.map(wordsOf)),
    };
    index.records = records.map(
      ([kind, page, anchor, heading, name, excerpt, steps, patterns = [], piece], id) => ({
        id, kind: kinds[kind], anchor, heading, name, excerpt, piece, page: index.pages[page],
        title: index.pages[page].title, text: textOf(steps),
        patterns: patterns.map(([text, letters]) => [new RegExp(text, "is"), letters]),
      }));
    index.engine = new MiniSearch({
      fields: ["title", "heading", "name", "text"],
      tokenize,
      processTerm,
      searchOptions: {
        combineWith: "OR",
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        weights: { fuzzy: 0.3, prefix: 0.4 },
        boost: BOOST,
      },
    });
    index.engine.addAll(index.records);
    for (const record of index.records) delete record.text;
  }

  // Load what the search needs, when it is used for the first time.
  function ready() {
    loading ||= Promise.all([load("minisearch.min.js"), load("index.js")])
      .then(() => build(window.siteSearchIndex));
    return loading;
  }

  // -- The search --------------------------------------------------------------------

  // The rows of the error index that fit a message, in the order of `--explain`.
  function rowsFor(query) {
    const message = query.replaceAll("`", "");
    const fitting = [];
    for (const record of index.records) {
      const fits = record.patterns.filter(([pattern]) => pattern.test(message));
      const letters = Math.max(0, ...fits.map(([, count]) => count));
      if (letters) fitting.push([isExample(message, record), -letters, record]);
    }
    fitting.sort((one, two) => one[0] - two[0] || one[1] - two[1]);
    return fitting.slice(0, 3).map(([, , record]) => record);
  }

  function isExample(message, record) {
    return record.piece !== undefined && !(record.piece && message.includes(record.piece));
  }

  // A record that has more of the query's terms comes before one that has a rare term.
  function score(result, terms, synonyms) {
    const sum = (some) => some.reduce((total, term) => total + weightOf(term), 0);
    const record = index.records[result.id];
    const had = new Set(
      result.queryTerms.flatMap((term) => synonyms.get(term)?.from || term));
    const share = sum(terms.filter((term) => had.has(term))) / sum(terms);
    const late = index.after.has(record.page.name) ? 0.5 : 1;
    return result.score * KIND[record.kind] * late * (ALONE + share ** SHARE);
  }

  // Return results, best first: rows that fit a message, then pages with their best record.
  // A page of which several sections are about the query is more than one with a single one.
  function search(query) {
    const terms = [...new Set(termsOf(query))];
    const synonyms = synonymsOf(query);
    const asked = [...terms, ...synonyms.keys()].join(" ");
    const found = index.engine.search(asked, {
      processTerm: (term) => term,
      tokenize: (text) => text.split(" "),
      boostTerm: (term) => synonyms.get(term)?.weight || weightOf(term),
    });
    const groups = new Map();
    for (const result of found) {
      const record = index.records[result.id];
      const value = score(result, terms, synonyms);
      if (!groups.has(record.page)) groups.set(record.page, []);
      groups.get(record.page).push([value, record]);
    }
    const ranked = [...groups.values()].map((group) => {
      group.sort((one, two) => two[0] - one[0]);
      const others = group.slice(1, 1 + OTHERS).reduce((sum, [value]) => sum + value, 0);
      return [group[0][0] + OTHER * others, group[0][1]];
    });
    ranked.sort((one, two) => two[0] - one[0]);
    const rows = rowsFor(query);
    const others = ranked.map(([, record]) => record).filter((record) => !rows.includes(record));
    return [...rows, ...others].slice(0, SHOWN);
  }

  // -- What a reader sees ------------------------------------------------------------

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function item(record) {
    const made = element("li", `search-hit search-hit-${record.kind}`);
    const link = element("a", "", record.name || record.heading || record.title);
    link.href = root + record.page.address + (record.anchor ? `#${record.anchor}` : "");
    const place = [LABELS[record.kind], record.page.part, record.page.title];
    made.append(
      link,
      element("span", "search-place", place.filter((text) => text).join(" › ")),
      element("span", "search-excerpt", record.excerpt));
    return made;
  }

  function show(query, box) {
    const results = query.trim() ? search(query) : [];
    const none = query.trim() ? `Your search did not match any page: ${query}` : "";
    const many = `${results.length} results`;
    const list = element("ol", "search-hits");
    list.append(...results.map(item));
    box.replaceChildren(
      element("p", "search-summary", results.length ? many : none), list);
    box.firstChild.setAttribute("role", "status");
    box.dataset.query = query; // what a reader who types fast has results for
  }

  // Results appear below a field while a reader types; arrow keys go through them.
  function attach(field, box) {
    let waiting;
    const update = () => ready().then(() => show(field.value, box));
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(update, 60);
    });
    field.addEventListener("focus", ready);
    box.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [field, ...box.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    });
    return update;
  }

  document.addEventListener("DOMContentLoaded", () => {
    const dialog = document.getElementById("pst-search-dialog");
    if (dialog) {
      const box = element("div", "search-results");
      dialog.append(box);
      attach(dialog.querySelector("input"), box);
    }
    const box = document.getElementById("search-results");
    if (box) {
      const field = document.querySelector("form.site-search input");
      field.value = new URLSearchParams(location.search).get("q") || "";
      attach(field, box)();
      field.focus();
    }
  });

  return { ready, search };
})();
