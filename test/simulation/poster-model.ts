import type { Asked, CouponModel, Json, ModelDefinition } from './coupon-model.ts'
import { answerOf, refused, same, whyNotMinted } from './coupon-model.ts'
import type { Outcome } from './process.ts'

type Limits = { perPerson: number; perDay: number | null; total: number | null }

export type ModelPoster = Limits & {
  id: string
  definition: ModelDefinition
  paused: boolean
  /** Takes, with the key of each person and the answer that it earned. */
  takes: { taker: string; key: string; body: string }[]
  day: number
  takenThatDay: number
}

/** The posters of a service, and the vouchers that were taken from them. */
export class PosterModel {
  readonly posters: ModelPoster[] = []
  readonly #coupons: CouponModel

  constructor(coupons: CouponModel) {
    this.#coupons = coupons
  }

  hang(
    asked: Asked,
    { definition, owner, limits }: { definition: ModelDefinition; owner: string; limits: Limits },
    outcome: Outcome,
  ): void {
    if (this.#coupons.settled(asked, outcome)) return
    if (definition.owner !== owner) return void refused(outcome, 'coupon-unknown')
    const { body } = answerOf(outcome) as Json
    const { id, taken } = JSON.parse(body).poster
    same('the takes of a new poster', taken, 0)
    const fresh = { paused: false, takes: [], day: 0, takenThatDay: 0 }
    this.posters.push({ ...limits, ...fresh, id, definition })
    this.#coupons.keep(asked, body)
  }

  change(
    asked: Asked,
    { poster, owner, paused }: { poster: ModelPoster; owner: string; paused: boolean },
    outcome: Outcome,
  ): void {
    if (this.#coupons.settled(asked, outcome)) return
    if (poster.definition.owner !== owner) return void refused(outcome, 'poster-unknown')
    const changed = (answerOf(outcome) as Json).poster
    poster.paused = paused
    same('the poster', [changed.paused, changed.taken], [paused, poster.takes.length])
  }

  take(
    asked: Asked,
    { poster, taker, key }: { poster: ModelPoster; taker: string; key: string },
    outcome: Outcome,
    now: number,
  ): void {
    if (this.#coupons.settled(asked, outcome)) return
    const { definition, takes } = poster
    const before = takes.find((one) => one.taker === taker && one.key === key)
    if (before) {
      const { body } = before
      same('the repeated take', outcome, { value: { replayed: true, body } })
      return
    }
    const day = Math.max(poster.day, Math.floor(now / 86_400))
    // The count of the poster is written before the coupon refuses.
    const code = whyNotTaken(poster, taker, day) ?? whyNotMinted(definition, 1, now)
    if (code !== null) return void refused(outcome, code)
    const { replayed, body } = answerOf(outcome) as Json
    same('a first take', replayed, false)
    const voucher = JSON.parse(body)
    const { name, expiresAt } = definition
    definition.issued++
    this.#coupons.issue(definition, voucher, { root: voucher.nonce, name, expiresAt })
    takes.push({ taker, key, body })
    Object.assign(poster, { day, takenThatDay: day === poster.day ? poster.takenThatDay + 1 : 1 })
  }
}

function whyNotTaken(poster: ModelPoster, taker: string, day: number): string | null {
  const { takes, paused, perPerson, perDay, total, takenThatDay } = poster
  if (paused) return 'poster-paused'
  if (takes.filter((one) => one.taker === taker).length >= perPerson) return 'poster-taken'
  if (total !== null && takes.length >= total) return 'poster-exhausted'
  return perDay !== null && day === poster.day && takenThatDay >= perDay ? 'poster-today' : null
}
