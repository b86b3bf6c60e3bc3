import { withBasePath } from 'millrace'
import { useEffect, useEffectEvent, useRef, useState, type ComponentType } from 'react'
import { LONGEST_QUERY } from './longest-query.ts'
import type { SearchDialogProps, TypedText } from './search-dialog.tsx'
import styles from './handbook-search.module.css'

/**
 * The search box. Without JavaScript it is a form that the server answers. With it, what is typed here continues in a
 * dialog, which `/` and Ctrl+K open from anywhere in the handbook. Until the dialog has loaded, all keys go into the box.
 * @param props `asked`: what the page on screen shows the hits for; empty for a chapter.
 */
export function HandbookSearch({ asked }: { readonly asked: string }) {
  const field = useRef<HTMLInputElement>(null)
  const opener = useRef<Element>(null) // gets the focus back
  const [dialog, setDialog] = useState<{ readonly Dialog: ComponentType<SearchDialogProps> }>()

  const open = (): void => {
    opener.current ??= document.activeElement
    loadDialog().then(setDialog, () => (opener.current = null)) // without the dialog, the form still works
  }
  const close = (): void => {
    setDialog(undefined)
    opener.current = null
  }

  const onKeyDown = useEffectEvent((event: KeyboardEvent): void => {
    if (!opensSearch(event)) return
    event.preventDefault()
    if (dialog !== undefined) return
    opener.current ??= document.activeElement
    field.current?.focus({ preventScroll: true })
    field.current?.select()
    open()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKeyDown(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])

  return (
    <search>
      <form
        action={withBasePath('/docs/search')}
        method="get"
        className={styles['form']}
        onSubmit={(event) => {
          if (field.current?.value.trim() !== '') return
          event.preventDefault()
          open()
        }}
      >
        <label htmlFor="handbook-search">
          Search the handbook <kbd className={styles['key']}>/</kbd>
        </label>
        <input
          key={asked}
          ref={field}
          id="handbook-search"
          name="q"
          type="search"
          maxLength={LONGEST_QUERY}
          autoComplete="off"
          defaultValue={asked}
          aria-keyshortcuts="/ Control+K"
          onFocus={() => void loadDialog().catch(() => undefined)}
          onInput={({ nativeEvent }) => {
            if (!(nativeEvent as InputEvent).isComposing) open()
          }}
          onCompositionEnd={open}
        />
        <button type="submit">Search</button>
      </form>
      {dialog === undefined ? null : (
        <dialog.Dialog
          takeTyped={() => takeTyped(field.current, asked)}
          onClose={() => {
            returnFocus(opener.current)
            close()
          }}
          onGo={close}
        />
      )}
    </search>
  )
}

async function loadDialog(): Promise<{ readonly Dialog: ComponentType<SearchDialogProps> }> {
  const { default: Dialog } = await import('./search-dialog.tsx')
  return { Dialog }
}

/** The browser would leave the focus in the box, where the next `/` is a letter. */
function returnFocus(opener: Element | null): void {
  const { activeElement } = document
  if (opener === document.body && activeElement instanceof HTMLElement) activeElement.blur()
  else if (opener instanceof HTMLElement) opener.focus({ preventScroll: true })
}

/** Text and selection of the box, which shows again what it showed first. */
function takeTyped(field: HTMLInputElement | null, asked: string): TypedText {
  const { value: text = '', selectionStart, selectionEnd } = field ?? {}
  if (field !== null) field.value = asked
  return { text, start: selectionStart ?? text.length, end: selectionEnd ?? text.length }
}

function opensSearch({ key, ctrlKey, metaKey, altKey, target, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || altKey) return false
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k'
  const isEditing =
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
  return key === '/' && !isEditing
}
