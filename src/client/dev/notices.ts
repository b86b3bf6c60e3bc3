import { block } from './overlay-article.ts'
import { button, createHost, element, placeButton } from './dev-elements.ts'
import type { DevFrame, DevWarning, PageComplaint } from './dev-messages.ts'
import { explain } from './dev-requests.ts'
import { positionOf } from './fold-frames.ts'
import type { OpenInEditor } from './overlay.ts'

/** What warnings are about; those of one source are replaced together. */
type NoticeSource = 'build' | 'page' | 'react' | 'requests'

/** The warnings of a page: a badge with their number, which opens their list. */
export interface Notices {
  /** Replaces the warnings of a source. */
  set(source: NoticeSource, warnings: readonly DevWarning[]): void
  add(source: NoticeSource, warning: DevWarning): void
  /** Has the development server find the place of a complaint of React, then adds it. */
  report(complaint: PageComplaint): Promise<void>
  /** Drops React's warnings about these modules: it warns again if they are not fixed. */
  refreshed(files: readonly string[]): void
}

const MOST_WARNINGS = 50 // of a source

/** Creates the badge of one document; it is added to the page with the first warning. */
export function createNotices(document: Document, openInEditor: OpenInEditor): Notices {
  const sources = new Map<NoticeSource, readonly DevWarning[]>()
  const { host, shadow } = createHost(document, 'millrace-warnings')
  const state = { hidden: '' }
  const badge = button(document, '', () => {
    render()
    dialog.showModal()
    dialog.focus()
  })
  badge.className = 'badge'
  const dialog = element(document, 'dialog')
  dialog.tabIndex = -1
  dialog.setAttribute('aria-label', 'Warnings of the development server')
  const status = element(document, 'output')
  const content = element(document, 'div')
  dialog.append(content, status)
  dialog.addEventListener('close', () => void (status.textContent = ''))
  shadow.append(badge, dialog)

  const all = (): readonly DevWarning[] => [...sources.values()].flat()
  const namesOf = (warnings: readonly DevWarning[]): string => warnings.map(nameOf).join('\n')

  function open(frame: DevFrame): void {
    openInEditor(frame).then(
      () => void (status.textContent = `Opened ${frame.file} in the editor.`),
      (error: unknown) => void (status.textContent = error instanceof Error ? error.message : String(error)),
    )
  }

  function render(): void {
    const warnings = all()
    if (warnings.length === 0) {
      dialog.close()
      host.remove()
      return
    }
    badge.textContent = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`
    badge.hidden = namesOf(warnings) === state.hidden
    const header = element(
      document,
      'header',
      element(document, 'span', badge.textContent),
      button(document, 'Hide until the next', () => {
        state.hidden = namesOf(all())
        badge.hidden = true
        dialog.close()
      }),
      button(document, 'Close (Esc)', () => dialog.close()),
    )
    content.replaceChildren(
      header,
      ...warnings.map(({ kind, message, detail, frame }) => {
        const made = element(
          document,
          'article',
          element(document, 'h1', TITLES[kind]),
          element(document, 'p', message),
        )
        made.className = 'warning'
        if (detail !== undefined) made.append(block(document, 'Details', detail))
        if (frame !== undefined) made.append(placeButton(document, frame, open))
        return made
      }),
    )
    if (!host.isConnected) document.documentElement.append(host)
  }

  function set(source: NoticeSource, warnings: readonly DevWarning[]): void {
    const former = sources.get(source) ?? []
    if (namesOf(former) === namesOf(warnings)) return
    sources.set(source, warnings.slice(-MOST_WARNINGS))
    render()
  }

  function add(source: NoticeSource, warning: DevWarning): void {
    const others = (sources.get(source) ?? []).filter((one) => nameOf(one) !== nameOf(warning))
    set(source, [...others, warning])
  }

  return {
    set,
    add,
    async report(complaint) {
      const { message, frames } = await explain(complaint)
      const frame = frames.find(({ own }) => own)
      add('react', { kind: complaint.warning ?? 'react', message, ...(frame === undefined ? {} : { frame }) })
    },
    refreshed(files) {
      const kept = (sources.get('react') ?? []).filter(
        ({ frame }) => frame === undefined || !files.includes(frame.file),
      )
      set('react', kept)
    },
  }
}

const TITLES: Readonly<Record<DevWarning['kind'], string>> = {
  build: 'Warning of the compiler',
  cache: 'Page that is not cached',
  image: 'Image without a size',
  link: 'Dead link',
  react: 'React',
  slow: 'Slow loaders',
  table: 'Module that does not fit its entry',
  title: 'Page without a title',
  value: 'Value that changes on its way to the browser',
}

/** Equal for equal warnings. The times of loaders differ from request to request. */
function nameOf({ kind, message, frame }: DevWarning): string {
  return `${kind} ${kind === 'slow' ? '' : message} ${frame === undefined ? '' : positionOf(frame)}`
}
