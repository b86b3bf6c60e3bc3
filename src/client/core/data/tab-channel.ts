/** One for each application of a host. */
const CHANNEL = `millrace${globalThis.MILLRACE_BASE_PATH || ''}`

/**
 * Connects the tabs of this site.
 * @param forget called with targets that another tab has dropped, once this tab is visible: a hundred tabs must not
 * fetch at once.
 * @returns tells the other tabs what to drop: tags and paths, as for `revalidate`.
 */
export function joinTabs(
  { document }: Window,
  forget: (targets: readonly string[]) => void,
): (targets: readonly string[]) => void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.addEventListener('message', ({ data }) => {
    if (!Array.isArray(data)) return
    const tell = (): void => forget(data.filter((one) => typeof one === 'string'))
    if (document.visibilityState === 'visible') tell()
    else document.addEventListener('visibilitychange', tell, { once: true })
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  return (targets) => channel.postMessage(targets)
}
