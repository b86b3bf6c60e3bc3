import { useEffect } from 'react'
import { useLocation } from 'millrace'

/** Marks the section that the address names, for the stylesheet: `:target` stays what it was when the client router navigates. */
export function useTargetMark(): void {
  const { hash, pathname } = useLocation()
  const address = pathname + hash // another chapter may have a section of the same name
  useEffect(() => {
    const section = document.getElementById(idOf(address))
    section?.setAttribute('data-target', '')
    return () => section?.removeAttribute('data-target')
  }, [address])
}

function idOf(address: string): string {
  const [, fragment = ''] = address.split('#')
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment // somebody has typed it
  }
}
