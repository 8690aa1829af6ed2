import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { projectId } from '../../api/project.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { deleteModel, type Model } from '../../api/training.ts'
import { IconButton } from '../../components/button.tsx'
import { copyText } from '../../components/copy-button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Menu } from '../../components/menu.tsx'
import { notify } from '../../components/toast.ts'

/** What is done rarely with a model. */
export function ModelMenu({ model, steps }: { model: Model; steps: number }) {
  const [isAsked, setAsked] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const name = { entity: model.entity, project: model.project }
  const readOnly = useReadOnly(projectId(name))
  const remove = () => {
    deleteModel(model.id).then(
      async ({ deleted_checkpoints }) => {
        notify({ title: `${model.name} is gone`, detail: `with ${deleted_checkpoints} steps` })
        await navigate({ to: '/$entity/$project/training', params: name })
        await queries.invalidateQueries({ queryKey: ['models', projectId(name)] })
      },
      (error: Error) => notify({ title: 'The model could not be deleted', detail: error.message }),
    )
  }
  const path = `${model.entity}/${model.project}/${model.name}`
  return (
    <>
      <Menu
        trigger={<IconButton label="More" icon={<Ellipsis size={16} />} />}
        groups={[
          {
            entries: [
              {
                label: 'Copy the name for clients',
                onSelect: () => void copyText(`wandb-artifact:///${path}`),
              },
            ],
          },
          {
            entries: [
              {
                label: readOnly ?? 'Delete the model…',
                icon: <Trash2 size={14} />,
                isDangerous: readOnly === undefined,
                isDisabled: readOnly !== undefined,
                onSelect: () => setAsked(true),
              },
            ],
          },
        ]}
      />
      <ConfirmDialog
        title={`Delete ${model.name}?`}
        consequence={`Its ${steps} steps with their weights go, its jobs end, and its run goes. The calls of its trajectories stay. This cannot be undone.`}
        action="Delete"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={remove}
      />
    </>
  )
}
