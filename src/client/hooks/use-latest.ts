import { useInsertionEffect, useRef, type RefObject } from 'react'

/** The value of the last render that came on screen, for functions that keep their identity. Set before all other effects. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value)
  useInsertionEffect(() => {
    latest.current = value
  })
  return latest
}
