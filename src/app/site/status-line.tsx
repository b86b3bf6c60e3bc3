import { useNavigation, useOnline } from 'millrace'

/** Says what a visitor would otherwise wonder about: that the next page is on its way, or that there is no network. */
export function StatusLine() {
  const pending = useNavigation()
  const online = useOnline()
  return (
    <>
      {pending === undefined ? null : (
        <div className="progress-line" role="progressbar" aria-label="Loading the page" />
      )}
      <p className="offline-note" role="status">
        {online ? '' : 'You are offline. Pages that you opened in the last few minutes may still work.'}
      </p>
    </>
  )
}
