"""Files that a step reads and writes: what a component accesses as `self.ctx.files`."""

from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.recorder import Recorder
from headgate.foundation.secret_values import SecretValues
from headgate.sdk import File, RunInput


class StepFiles:
    """Files of one step: reads those of its run and its flow's space, writes its own artifacts."""

    def __init__(
        self,
        origin: Origin,
        run_input: RunInput,
        files: RunFiles,
        *,
        recorder: Recorder,
        secrets: SecretValues,
        outside: OutsideContent,
    ) -> None:
        self._origin = origin
        history_files = [file for message in run_input.history for file in message.files]
        self._given = {file.id for file in (*run_input.files, *history_files)}
        self._files = files
        self._recorder = recorder
        self._secrets = secrets
        self._outside = outside

    async def of_run(self) -> tuple[File, ...]:
        """Return the artifacts of this run so far, oldest first."""
        return await self._files.of_run(self._origin.key)

    async def read(self, file: File) -> bytes:
        """Return the content. Raises `NotFound`, also for a file of another space: ids are untrusted."""
        if file.id not in self._recorder.saved_file_ids:
            self._outside.add(*self._outside.of_file(file.id, file.name))
        if file.id in self._given:
            return await self._files.read(self._origin.key.tenant_id, file.id)
        return await self._files.read_in(self._origin.key.tenant_id, self._origin.key.flow_id, file.id)

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Store an artifact of this step."""
        text, content = self._secrets.text(name), self._secrets.content(content)
        file = await self._files.save(self._origin, text, content, media_type)
        self._recorder.saved_file_ids.append(file.id)
        return file
