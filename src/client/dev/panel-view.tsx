import { useEffect, useLayoutEffect, useReducer, useRef, type KeyboardEvent, type PointerEvent } from 'react'
import { createRoot } from 'react-dom/client'
import { inspectorSections, type InspectorSection } from '../inspect/inspector-sections.ts'
import { INSPECTOR_STYLE } from '../inspect/inspector-style.ts'
import { InspectorView } from '../inspect/inspector-view.tsx'
import { commandsOf } from '../inspect/inspector.tsx'
import type { PageObserver } from '../inspect/observe-page.ts'
import type { RouterInsight } from '../inspect/router-insight.ts'
import { BUTTON_PLACES, DOCKS, type PanelLayout, type PanelSetting } from './panel-setting.ts'
import { PANEL_STYLE } from './panel-style.ts'

/** Options of a panel. */
interface PanelOptions {
  readonly container: ShadowRoot
  readonly setting: PanelSetting
  readonly observer: PageObserver
  /** `undefined` until the document is hydrated. */
  readonly insight: RouterInsight | undefined
  /** Whether it takes the focus: it was opened by the developer, and not by the page. */
  readonly takesFocus: boolean
  readonly onClose: () => void
}

/** A panel on the screen. */
export interface MountedPanel {
  show(insight: RouterInsight): void
  unmount(): void
}

const TICK_MS = 1_000 // ages are shown in whole seconds

const STEP_PX = 24 // of the arrow keys on the edge

const LEAST_PX = 120 // the tabs and a row of a table

/** Renders the panel into a shadow root. */
export function mountPanel(window: Window & typeof globalThis, options: PanelOptions): MountedPanel {
  const { container } = options
  const styles = [PANEL_STYLE, INSPECTOR_STYLE].map((css) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    return sheet
  })
  container.adoptedStyleSheets = styles
  const closed = new AbortController()
  const onKeyDown = (event: Event): void => {
    if (event instanceof window.KeyboardEvent && event.key === 'Escape') options.onClose()
  }
  container.addEventListener('keydown', onKeyDown, { signal: closed.signal })
  const root = createRoot(container)
  const show = (insight: RouterInsight | undefined): void =>
    root.render(<PanelFrame {...options} insight={insight} view={window} />)
  show(options.insight)
  return {
    show,
    unmount() {
      closed.abort()
      root.unmount()
    },
  }
}

interface FrameProps extends Omit<PanelOptions, 'container'> {
  readonly view: Window
}

/** The panel: an edge to resize it, tabs, and the tables of one section. */
function PanelFrame({ setting, observer, insight, takesFocus, onClose, view }: FrameProps) {
  const frame = useRef<HTMLElement>(null)
  const changed = useFrames(view, insight, observer)
  useLayoutEffect(() => {
    if (takesFocus) frame.current?.focus({ preventScroll: true })
  }, [takesFocus])
  const { layout } = setting
  const arrange = (change: Partial<PanelLayout>): void => {
    setting.arrange(change)
    changed()
  }
  const sections = insight && inspectorSections(insight, observer.facts())
  const section = sections?.find(({ id }) => id === layout.section)
  return (
    <aside
      ref={frame}
      aria-label="Client router"
      tabIndex={-1}
      data-dock={layout.dock}
      style={{ '--height': `${layout.height}px`, '--width': `${layout.width}px` } as object}
    >
      <Edge layout={layout} arrange={arrange} view={view} />
      <header>
        <Tabs sections={sections ?? []} selected={layout.section} select={(id) => arrange({ section: id })} />
        <div className="tools">
          <Choice label="Dock" values={DOCKS} value={layout.dock} choose={(dock) => arrange({ dock })} />
          <Choice
            label="Button"
            values={BUTTON_PLACES}
            value={layout.button}
            choose={(button) => arrange({ button })}
          />
          <button type="button" title="Esc, or Alt+Shift+M" onClick={onClose}>
            Close
          </button>
        </div>
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div role="tabpanel" id="section" aria-label={section?.title ?? 'Client router'} tabIndex={0}>
        {insight && section ? (
          <InspectorView tables={section.tables} commands={commandsOf(insight)} testIdPrefix="panel-" />
        ) : (
          <p>The client router has not started in this document.</p>
        )}
        <p>Development only. Alt+Shift+M shows and hides this panel, Esc hides it.</p>
      </div>
    </aside>
  )
}

/** Renders again after changes, once a frame: a page with a thousand links changes the queue a thousand times. */
function useFrames(view: Window, insight: RouterInsight | undefined, observer: PageObserver): () => void {
  const [, changed] = useReducer((changes: number) => changes + 1, 0)
  useEffect(() => {
    const state: { frame?: number | undefined } = {}
    const soon = (): void => {
      state.frame ??= view.requestAnimationFrame(() => {
        state.frame = undefined
        changed()
      })
    }
    const timer = view.setInterval(soon, TICK_MS)
    const ends = [observer.subscribe(soon), insight?.subscribe(soon)]
    return () => {
      view.clearInterval(timer)
      if (state.frame !== undefined) view.cancelAnimationFrame(state.frame)
      ends.forEach((end) => end?.())
    }
  }, [view, insight, observer])
  return changed
}

interface TabsProps {
  readonly sections: readonly InspectorSection[]
  readonly selected: InspectorSection['id']
  readonly select: (id: InspectorSection['id']) => void
}

/** One tab is in the order of Tab; the arrows, Home and End move between them. */
function Tabs({ sections, selected, select }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  function onKeyDown(event: KeyboardEvent): void {
    const at = sections.findIndex(({ id }) => id === selected)
    const { length } = sections
    const targets: Record<string, number> = {
      ArrowRight: (at + 1) % length,
      ArrowLeft: (at + length - 1) % length,
      Home: 0,
      End: length - 1,
    }
    const index = targets[event.key]
    const target = index === undefined ? undefined : sections[index]
    if (index === undefined || target === undefined) return
    event.preventDefault()
    select(target.id)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus()
  }
  return (
    <div role="tablist" aria-label="Client router" tabIndex={-1} ref={list} onKeyDown={onKeyDown}>
      {sections.map(({ id, title, tables: [first] }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === selected}
          aria-controls="section"
          tabIndex={id === selected ? 0 : -1}
          onClick={() => select(id)}
        >
          {title}
          {id === 'page' || id === 'screen' || !first?.rows.length ? null : <small>{first.rows.length}</small>}
        </button>
      ))}
    </div>
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly values: readonly Value[]
  readonly value: Value
  readonly choose: (value: Value) => void
}

function Choice<Value extends string>({ label, values, value, choose }: ChoiceProps<Value>) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ target }) => choose(target.value as Value)}>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}

interface EdgeProps {
  readonly layout: PanelLayout
  readonly arrange: (change: Partial<PanelLayout>) => void
  readonly view: Window
}

/** The edge towards the page, by which the panel is resized. */
function Edge({ layout: { dock, height, width }, arrange, view }: EdgeProps) {
  const isFlat = dock === 'bottom' || dock === 'top'
  const size = isFlat ? height : width
  const most = Math.round(0.85 * (isFlat ? view.innerHeight : view.innerWidth))
  const resize = (to: number): void => {
    const next = Math.round(Math.min(most, Math.max(LEAST_PX, to)))
    arrange(isFlat ? { height: next } : { width: next })
  }
  function onKeyDown(event: KeyboardEvent): void {
    const grows: Record<PanelLayout['dock'], string> = {
      bottom: 'ArrowUp',
      top: 'ArrowDown',
      right: 'ArrowLeft',
      left: 'ArrowRight',
    }
    if (!event.key.startsWith('Arrow')) return
    event.preventDefault()
    resize(Math.min(size, most) + (event.key === grows[dock] ? STEP_PX : -STEP_PX))
  }
  function onPointerMove({ buttons, clientX, clientY }: PointerEvent): void {
    if (buttons === 0) return
    const sizes = { bottom: view.innerHeight - clientY, top: clientY, right: view.innerWidth - clientX, left: clientX }
    resize(sizes[dock])
  }
  return (
    <div
      role="separator"
      tabIndex={0}
      aria-label="Size of the panel"
      aria-orientation={isFlat ? 'horizontal' : 'vertical'}
      aria-valuenow={Math.min(size, most)}
      aria-valuemin={LEAST_PX}
      aria-valuemax={most}
      onKeyDown={onKeyDown}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={onPointerMove}
    />
  )
}
