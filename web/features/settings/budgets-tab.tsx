import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { type Budget, type BudgetState, budgetsQuery, setBudgets } from '../../api/limits.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { NewBudget } from './new-budget.tsx'
import { Loaded, ReadOnly, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { useChange } from './parts/use-change.ts'
import { TeamSelect } from './team-select.tsx'

interface BudgetsTabProps {
  me: MeRes
  team: string
  onTeam: (name: string) => void
}

/** What a team may spend on models in a month. */
export function BudgetsTab({ me, team, onTeam }: BudgetsTabProps) {
  const budgets = useQuery(budgetsQuery(team))
  const [removed, setRemoved] = useState<BudgetState>()
  const role = roleIn(me, team)
  const mayChange = role === 'admin' || me.is_operator
  const stored = budgets.data?.data ?? []
  // The budget of the whole team stays as it is where its admins change the others.
  const others = stored.filter((budget) => me.is_operator || !isOfTeam(budget)).map(toRequest)
  const set = useChange((data: Budget[]) => setBudgets(team, data, budgets.data?.version ?? ''), {
    failed: 'The budgets were not changed',
  })
  return (
    <Section
      title="Budgets"
      about="Tokens, or their price, that models may cost in a calendar month. Requests are refused from then on until the next month begins; from 80 % on, replies carry a warning."
      form={
        <div className="flex flex-col gap-3">
          <div className="flex">
            <TeamSelect team={team} onTeam={onTeam} />
          </div>
          {mayChange ? (
            <NewBudget
              key={team}
              mayBeOfTeam={me.is_operator}
              isDisabled={budgets.data === undefined || set.isPending}
              onAdd={(budget, onDone) => set.mutate([...others, budget], { onDone })}
            />
          ) : (
            <ReadOnly>
              Admins of {team} change its budgets; you are a {role ?? 'guest'} there.
            </ReadOnly>
          )}
        </div>
      }
    >
      <Loaded query={budgets} what="The budgets">
        {({ data, resets_at }) =>
          data.length === 0 ? (
            <EmptyState title={`${team} has no budgets`} />
          ) : (
            <Table
              label={`Budgets of ${team}`}
              headings={['Of', 'Spent', 'Of a month', 'State', '']}
              rows={data.map((budget) => ({
                key: budget.id,
                cells: [
                  subjectOf(budget, team),
                  amountText(budget.spent, budget.unit),
                  amountText(budget.amount, budget.unit),
                  <State key="state" budget={budget} resetsAt={resets_at} />,
                  mayChange && (me.is_operator || !isOfTeam(budget)) && (
                    <Button
                      key="remove"
                      size="small"
                      aria-label={`Remove the budget of ${subjectOf(budget, team)}`}
                      disabled={set.isPending}
                      onClick={() => setRemoved(budget)}
                    >
                      Remove
                    </Button>
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
      {removed !== undefined && (
        <ConfirmDialog
          title={`Remove the budget of ${subjectOf(removed, team)}`}
          isOpen
          onClose={() => setRemoved(undefined)}
          consequence={`${amountText(removed.amount, removed.unit)} a month are no limit any more. What was spent stays counted.`}
          action="Remove"
          onConfirm={() => set.mutate(withoutBudget(stored, removed, me.is_operator))}
        />
      )}
    </Section>
  )
}

function State({ budget: { state }, resetsAt }: { budget: BudgetState; resetsAt: string }) {
  if (state === 'within') return 'within'
  if (state === 'warning') return <Badge tone="warn">nearly spent</Badge>
  return <Badge tone="error">{`spent until ${resetsAt.slice(0, 10)}`}</Badge>
}

function withoutBudget(all: readonly BudgetState[], removed: BudgetState, isOperator: boolean): Budget[] {
  return all.filter((budget) => budget.id !== removed.id && (isOperator || !isOfTeam(budget))).map(toRequest)
}

function isOfTeam({ project, key }: BudgetState): boolean {
  return project == null && key == null
}

function subjectOf({ project, key }: BudgetState, team: string): string {
  if (project != null) return `${team}/${project}`
  return key == null ? 'the whole team' : `key ${key}`
}

function toRequest({ project, key, unit, amount, warn_at }: BudgetState): Budget {
  return { project, key, unit, amount, warn_at }
}

function amountText(amount: number, unit: BudgetState['unit']): string {
  const number = amount.toLocaleString('en-US', { maximumFractionDigits: unit === 'usd' ? 4 : 0 })
  return unit === 'usd' ? `$${number}` : `${number} tokens`
}
