import { withBasePath } from 'millrace'
import { lazy, Suspense, useEffect, useState } from 'react'
import { LONGEST_QUERY } from './longest-query.ts'
import styles from './handbook-search.module.css'

const SearchDialog = lazy(() => import('./search-dialog.tsx'))

/**
 * The search box. Without JavaScript it is a form that the server answers. With it, what is typed here continues in a
 * dialog, which `/` and Ctrl+K open from anywhere in the handbook.
 * @param props `asked`: what the page on screen shows the hits for; empty for a chapter.
 */
export function HandbookSearch({ asked }: { readonly asked: string }) {
  const [typed, setTyped] = useState<string>() // `undefined` while the dialog is closed
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!opensSearch(event)) return
      event.preventDefault()
      setTyped('')
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <search>
      <form action={withBasePath('/docs/search')} method="get" className={styles['form']}>
        <label htmlFor="handbook-search">
          Search the handbook <kbd className={styles['key']}>/</kbd>
        </label>
        <input
          key={asked}
          id="handbook-search"
          name="q"
          type="search"
          maxLength={LONGEST_QUERY}
          autoComplete="off"
          defaultValue={asked}
          aria-keyshortcuts="/ Control+K"
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value)
            currentTarget.value = asked
          }}
        />
        <button type="submit">Search</button>
      </form>
      {typed === undefined ? null : (
        <Suspense>
          <SearchDialog initial={typed} onClose={() => setTyped(undefined)} />
        </Suspense>
      )}
    </search>
  )
}

function opensSearch({ key, ctrlKey, metaKey, altKey, target, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || altKey) return false
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k'
  const isEditing =
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
  return key === '/' && !isEditing
}
