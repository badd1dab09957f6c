/** The changes that lists follow: those of the live stream, and while it is away, those of this page. */
import { signal } from '@preact/signals'

/** Counts changes. A list that is shown loads again when it counts up. */
export const changes = signal(0)

/** Whether the live stream is connected. */
export const listening = signal(false)
