/** The tag of what visitors share under a key of `/lab/shared/[key]`. */
export function sharedTag(key: string): string {
  return `shared:${key}`
}
