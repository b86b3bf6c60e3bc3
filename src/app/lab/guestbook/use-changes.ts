import { useEvents, useNavigate } from 'millrace'

/**
 * Keeps the page up to date: has the entries loaded again when others have changed them. The stream itself drops what the
 * actions of this server have changed.
 * @param revision of the entries on the screen.
 */
export function useChanges(revision: number): void {
  const { revalidate } = useNavigate()
  useEvents('/lab/guestbook/events', {
    changed(told: { readonly revision: number; readonly isForeign: boolean }) {
      if (told.isForeign && told.revision !== revision) revalidate('guestbook')
    },
  })
}
