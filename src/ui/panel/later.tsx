import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAttempt } from '../parts/attempt.ts'
import { Failure } from '../parts/failure.tsx'
import { panelWords as t } from '../words/panel.ts'

/** A view whose code is loaded when it is first shown: for what few visits need, and weighs something. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return function Later(props: Props) {
    const [, setLoaded] = useState(loaded !== null)
    const { failure, attempt } = useAttempt()
    useEffect(() => {
      if (loaded) return
      void attempt(async () => {
        loaded = await load()
        setLoaded(true)
      })
    }, [])
    const View = loaded
    if (View) return <View {...props} />
    // It says to reload the page: a browser may remember a module that did not load, so no second try here helps.
    if (failure !== null) return <Failure cause={failure} />
    return (
      <p class="soft" role="status">
        {t('loading')}
      </p>
    )
  }
}
