import { useFormStatus } from 'react-dom'
import type { Role } from './roles.ts'

/** Signs in as a role: the name and value of the button that was pressed are part of what is sent. */
export function RoleButton({ role }: { readonly role: Role }) {
  const { pending, data } = useFormStatus()
  const signing = pending && data.get('role') === role
  return (
    <button type="submit" name="role" value={role} aria-disabled={pending} data-testid={`sign-in-${role}`}>
      {signing ? `Signing in as ${role} …` : `Sign in as ${role}`}
    </button>
  )
}
