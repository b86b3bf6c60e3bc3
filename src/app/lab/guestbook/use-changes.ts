import { useEffect, useEffectEvent } from 'react'
import { useNavigate, withBasePath } from 'millrace'

/**
 * Keeps the page up to date: listens to `/lab/guestbook/events` and has the entries asked for anew when others have
 * changed them. A hidden tab does not listen, because browsers give a site six connections for all its tabs; it hears
 * how things stand as soon as it is shown again.
 * @param revision of the entries on the screen.
 */
export function useChanges(revision: number): void {
  const { revalidate } = useNavigate()
  const hear = useEffectEvent((event: MessageEvent<string>) => {
    const told = JSON.parse(event.data) as { readonly revision: number }
    if (told.revision !== revision) revalidate('guestbook')
  })
  useEffect(() => {
    let source: EventSource | undefined
    const follow = (): void => {
      if (document.visibilityState === 'hidden') {
        source?.close()
        source = undefined
      } else if (source === undefined) {
        source = new EventSource(withBasePath('/lab/guestbook/events'))
        source.addEventListener('changed', (event: MessageEvent<string>) => hear(event))
      }
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      source?.close()
    }
  }, [])
}
