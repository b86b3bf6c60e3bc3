import { useActionState } from 'react'
import { estimatePower } from './actions.server.ts'

export function PowerForm({ mill }: { readonly mill: string }) {
  const [state, formAction, pending] = useActionState(estimatePower, null)
  const { errors, values } = state?.kind === 'invalid' ? state : {}
  return (
    <form className="form" action={formAction} noValidate>
      <input type="hidden" name="mill" value={mill} />
      <label htmlFor="litres">Litres of water a second</label>
      <input id="litres" name="litres" defaultValue={values?.['litres']} aria-describedby="power" />
      <button aria-disabled={pending}>Estimate the power</button>
      <p id="power" role="status" data-testid="power">
        {state?.kind === 'done' ? `${state.kilowatts} kW at the wheel` : errors?.['litres']}
      </p>
    </form>
  )
}
