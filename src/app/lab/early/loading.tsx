import { Pending } from '../pending.tsx'

/** In the place of the page until its loader is done. */
export default function EarlyLoading() {
  return <Pending label="late" />
}
