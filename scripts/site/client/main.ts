/** The script of every page of the site: the search box, the list of pages, and a button on each code block that copies it. */
import { createSearch, excerptOf, type Search, type SearchEntry } from './search-index.ts';

const shown = 12;
const box = document.querySelector('search')!;
const input = box.querySelector('input')!;
const status = box.querySelector('p')!;
const results = box.querySelector('ul')!;
let loading: Promise<Search> | null = null;

box.hidden = false;
showCurrent();
input.addEventListener('focus', () => void load().catch(tellFailure));
input.addEventListener('input', () => void show().catch(tellFailure));
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.matches('input, textarea, select');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
  }
});
box.addEventListener('keydown', move);
box.addEventListener('focusout', (event) => {
  if (!(event.relatedTarget instanceof Node && box.contains(event.relatedTarget))) close();
});
for (const code of document.querySelectorAll<HTMLElement>('.code')) addCopyButton(code);

/** Scrolls the list of pages to the current one. */
function showCurrent(): void {
  const sidebar = document.querySelector<HTMLElement>('.sidebar')!;
  const current = sidebar.querySelector<HTMLElement>('[aria-current]');
  if (current !== null) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
}

function load(): Promise<Search> {
  loading ??= fetch(box.dataset['index']!)
    .then(async (answer) => {
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      return createSearch((await answer.json()) as SearchEntry[]);
    })
    .catch((error: unknown) => {
      loading = null;
      throw error;
    });
  return loading;
}

function tellFailure(error: unknown): void {
  results.hidden = true;
  status.textContent = `The search could not be loaded (${String(error)}). Reload the page to try again.`;
}

async function show(): Promise<void> {
  const search = await load();
  const words = input.value.trim();
  if (words === '') return close();
  const found = search(words);
  results.replaceChildren(...found.slice(0, shown).map((entry) => resultItem(entry, words)));
  results.hidden = found.length === 0;
  status.textContent =
    found.length === 0 ? 'No results' : `${found.length} ${found.length === 1 ? 'result' : 'results'}`;
}

function close(): void {
  results.replaceChildren();
  results.hidden = true;
  status.textContent = '';
}

function resultItem({ address, title, heading, text }: SearchEntry, words: string): HTMLLIElement {
  const link = document.createElement('a');
  link.href = box.dataset['root']! + address;
  const name = document.createElement('strong');
  name.textContent = heading === '' ? title : `${title} › ${heading}`;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(text, words);
  link.append(name, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** Arrows go through the results, Escape closes them, Enter in the box opens the first. */
function move(event: KeyboardEvent): void {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (at <= 0 ? input : links[at - 1]!).focus();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else return;
  event.preventDefault();
}

function addCopyButton(code: HTMLElement): void {
  // the clipboard exists on secure origins alone
  if (navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(code.querySelector('code')!.textContent).then(
      () => tell(button, 'Copied'),
      () => tell(button, 'Not allowed'),
    );
  });
  code.append(button);
}

function tell(button: HTMLButtonElement, word: string): void {
  button.textContent = word;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
}
