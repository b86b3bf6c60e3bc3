import { setTimeout as wait } from 'node:timers/promises'

export function loader() {
  return { level: wait(200, 40) }
}
