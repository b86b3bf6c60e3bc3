import type { InspectorCell, InspectorRow, InspectorTable } from '../inspect/inspector-tables.ts'

/** One table of the panel, updated in place: selection and scroll position stay. */
export interface PanelTable {
  readonly element: HTMLElement
  update(table: InspectorTable): void
}

/** @param first provides the constant parts: its name and its columns. */
export function createPanelTable(document: Document, first: InspectorTable): PanelTable {
  const rows = new Map<string, HTMLTableRowElement>()
  const section = document.createElement('section')
  section.dataset['testid'] = `panel-${first.id}`
  const title = make(document, 'h2', first.title)
  const note = make(document, 'p')
  const empty = make(document, 'p', first.empty)
  const scroll = document.createElement('div')
  scroll.tabIndex = 0
  scroll.role = 'group'
  scroll.ariaLabel = `${first.title}, table`
  const table = document.createElement('table')
  const head = table.createTHead().insertRow()
  for (const column of first.columns) {
    const cell = make(document, 'th', column)
    cell.setAttribute('scope', 'col')
    head.append(cell)
  }
  const body = table.createTBody()
  scroll.append(table)
  section.append(title, note, empty, scroll)

  function rowOf({ key, cells }: InspectorRow): HTMLTableRowElement {
    const row = rows.get(key) ?? document.createElement('tr')
    rows.set(key, row)
    for (const [index, cell] of cells.entries()) showCell(row.cells[index] ?? row.insertCell(), cell)
    return row
  }

  return {
    element: section,
    update(next) {
      setText(note, next.note ?? '')
      note.hidden = next.note === undefined
      empty.hidden = next.rows.length > 0
      scroll.hidden = next.rows.length === 0
      const keys = new Set(next.rows.map(({ key }) => key))
      for (const [key, row] of rows) {
        if (keys.has(key)) continue
        row.remove()
        rows.delete(key)
      }
      for (const [index, content] of next.rows.entries()) {
        const row = rowOf(content)
        const there = body.rows[index]
        if (there !== row) body.insertBefore(row, there ?? null)
      }
    },
  }
}

function showCell(cell: HTMLTableCellElement, { text, code, phases }: InspectorCell): void {
  const { ownerDocument: document } = cell
  if (cell.firstChild === null) {
    if (phases !== undefined) cell.append(createBars(document))
    cell.append(document.createElement(code === true ? 'code' : 'span'))
  }
  if (cell.lastChild instanceof HTMLElement) setText(cell.lastChild, text)
  if (phases === undefined) return
  for (const bar of cell.querySelectorAll<HTMLElement>('i[data-phase]')) {
    bar.style.width = `${100 * (bar.dataset['phase'] === 'ready' ? phases.ready : phases.commit)}%`
  }
}

function createBars(document: Document): HTMLElement {
  const bars = make(document, 'div')
  bars.ariaHidden = 'true'
  for (const phase of ['ready', 'commit']) {
    const bar = make(document, 'i')
    bar.dataset['phase'] = phase
    bars.append(bar)
  }
  return bars
}

/** Unchanged text keeps its selection. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Makes an element with this text. */
export function make(document: Document, name: string, text = ''): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  return element
}
