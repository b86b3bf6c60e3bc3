import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { href, Link, useNavigate } from 'millrace'
import type { SearchIndex } from 'millrace/internal/handbook'
import { findSections, type FoundSection } from './found-section.ts'
import { loadIndex } from './load-index.ts'
import { LONGEST_QUERY } from './longest-query.ts'
import { NothingFound, Snippet } from './search-hits.tsx'
import styles from './search-dialog.module.css'

const MOST_FOUND = 12

/** Text with its selection. */
export interface TypedText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Props of `SearchDialog`. */
export interface SearchDialogProps {
  /** Returns what has been typed until the dialog is on screen. */
  takeTyped(): TypedText
  onClose(): void
  /** A hit was followed: the new page gets the focus. */
  onGo(): void
}

/** The search as a dialog: hits while typing, arrow keys to choose, Enter to go there. */
export default function SearchDialog({ takeTyped, onClose, onGo }: SearchDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState(0)
  const { index, hasFailed } = useIndex()
  const { navigate } = useNavigate()
  const onOpen = useEffectEvent(() => {
    const { text, start, end } = takeTyped()
    dialog.current?.showModal()
    if (input.current === null) return
    input.current.value = text
    input.current.focus()
    input.current.setSelectionRange(start, end)
    setQuery(text)
  })
  // With the commit: a key that is pressed later would still go into the box.
  useLayoutEffect(() => onOpen(), [])

  const asked = query.trim()
  const sections = index === undefined || asked === '' ? [] : findSections(index, asked, MOST_FOUND)
  const last = sections.length - 1

  const choose = (number: number): void => {
    setChosen(number)
    list.current?.children[number]?.scrollIntoView({ block: 'nearest' })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    // The browser's own Escape would empty the field first.
    if (event.key === 'Escape') dialog.current?.close()
    else if (event.key === 'ArrowDown') choose(chosen >= last ? 0 : chosen + 1)
    else if (event.key === 'ArrowUp') choose(chosen <= 0 ? Math.max(0, last) : chosen - 1)
    else if (event.key === 'Enter' && sections.length > 0) list.current?.querySelectorAll('a')[chosen]?.click()
    else if (event.key === 'Enter' && asked !== '') {
      navigate(href('/docs/search', {}, { q: asked })) // the server searches where the index could not be loaded
      dialog.current?.close()
    } else return
    event.preventDefault()
  }

  return (
    <dialog ref={dialog} className={styles['dialog']} aria-label="Search the handbook" onClose={onClose} closedby="any">
      <div className={styles['content']}>
        <div className={styles['head']}>
          <input
            ref={input}
            type="search"
            role="combobox"
            aria-label="Search the handbook"
            aria-expanded={sections.length > 0}
            aria-controls="handbook-hits"
            aria-autocomplete="list"
            aria-activedescendant={sections.length > 0 ? `handbook-hit-${chosen}` : undefined}
            autoComplete="off"
            maxLength={LONGEST_QUERY}
            placeholder="What are you looking for?"
            onChange={({ target }) => {
              setQuery(target.value)
              choose(0)
            }}
            onKeyDown={onKeyDown}
          />
          <button type="button" className="button-quiet" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
        <p role="status" className="visually-hidden">
          {asked === '' || index === undefined ? '' : `${sections.length} found`}
        </p>
        <div ref={list} id="handbook-hits" role="listbox" aria-label="Sections" className={styles['hits']}>
          {sections.map((section, number) => (
            <Hit key={section.href} section={section} number={number} isChosen={number === chosen} onGo={onGo} />
          ))}
        </div>
        {hasFailed && <p className={styles['note']}>The index could not be loaded. Enter searches on the server.</p>}
        {index !== undefined && asked !== '' && sections.length === 0 && <NothingFound query={asked} />}
        <p className={styles['note']}>
          <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> open, <kbd>Esc</kbd> close
        </p>
      </div>
    </dialog>
  )
}

interface HitProps {
  readonly section: FoundSection
  readonly number: number
  readonly isChosen: boolean
  onGo(): void
}

function Hit({ section: { href, heading, trail, snippet }, number, isChosen, onGo }: HitProps) {
  return (
    <div role="option" id={`handbook-hit-${number}`} aria-selected={isChosen} className={styles['hit']}>
      {/* The focus stays in the field; the arrow keys choose. */}
      <Link href={href} tabIndex={-1} prefetch="none" onClick={onGo}>
        <span className={styles['heading']}>{heading}</span>
        {trail === '' ? null : <small>{trail}</small>}
        <Snippet parts={snippet} />
      </Link>
    </div>
  )
}

function useIndex(): { readonly index: SearchIndex | undefined; readonly hasFailed: boolean } {
  const [index, setIndex] = useState<SearchIndex>()
  const [hasFailed, setHasFailed] = useState(false)
  useEffect(() => {
    loadIndex().then(setIndex, () => setHasFailed(true))
  }, [])
  return { index, hasFailed }
}
