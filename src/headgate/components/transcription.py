"""The component for speech-to-text."""

from pydantic import PrivateAttr

from headgate.components.attachments import described
from headgate.components.chat import ModelStep
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import ComponentError, Data, File, Message, Model, Recording, Text, Transcript, field, output


class Transcribe(ModelStep):
    """Writes down what is said in a recording, with a model that turns speech into text."""

    label = "Transcribe"
    category = "ai"
    icon = "mic"
    keywords = (
        "speech", "audio", "whisper", "voice", "recording", "dictation", "stt", "speech-to-text", "meeting",
        "interview", "podcast", "subtitles", "minutes", "sound", "mp3", "wav",
    )  # fmt: skip

    model: Model = field(
        label="Model", help="The transcription model, provider/name, for example openai/gpt-4o-transcribe."
    )
    audio: File = field(label="Audio", help="The recording: MP3, WAV, M4A, OGG, FLAC or WebM, up to 25 MB.", main=True)
    language: str = field(
        default="",
        label="Language",
        help="ISO 639-1 code such as sv; empty detects the language.",
        port=False,
        max_length=5,
    )
    words: str = field(
        default="",
        label="Words",
        help="Names and terms that are likely to occur, in their correct spelling.",
        max_length=2000,
        advanced=True,
    )
    _made: Transcript | None = PrivateAttr(default=None)

    @output(help="The transcript.")
    async def text(self) -> Text:
        """Return the transcript; the model is called once per step."""
        return (await self._transcript()).text

    @output(help="The same as a message of role user.")
    async def message(self) -> Message:
        """Return the transcript as a message."""
        return Message(role="user", text=await self.text())

    @output(help="An object with text, language, seconds and the file's name; null where the model does not report it.")
    async def data(self) -> Data:
        """Return the complete result of the model."""
        result = await self._transcript()
        return {
            "text": result.text,
            "language": result.language or None,
            "seconds": result.seconds,
            "file": self.audio.name,
        }

    async def _transcript(self) -> Transcript:
        if self._made is None:
            if self.audio.media_type.partition("/")[0] not in {"audio", "video"}:
                raise ComponentError(
                    f"Transcribe: '{self.audio.name}' is {self.audio.media_type}, not a recording.",
                    remedy="Connect an audio file.",
                    field="audio",
                )
            content = await self.ctx.files.read(self.audio)
            recording = Recording(self.audio.name, content, self.audio.media_type, self.language, self.words)
            self.ctx.record_prompt(described(self.words, [self.audio]).strip())
            self._made = await self.ctx.transcribe(self.model, recording)
            if not self._made.text.strip():
                raise UpstreamFailed(
                    f"{self.model} found no speech in '{self.audio.name}'.", remedy=("Check the recording.")
                )
        return self._made
