import pytest

from headgate.sandbox.documents.images import MOST_PIXELS, NoImage, find_image
from tests.support.images import data_uri, jpeg_head, png


class TestFindImage:
    def test_decodes_a_data_uri(self) -> None:
        assert find_image(data_uri(png()), {}) == (png(), "png")

    def test_finds_a_given_file_by_its_name_also_when_the_text_quotes_it(self) -> None:
        assert find_image("r%C3%B6d%20prick.png", {"röd prick.png": png()}) == (png(), "png")

    def test_knows_a_jpeg_by_its_bytes_whatever_it_is_called(self) -> None:
        assert find_image("a.png", {"a.png": jpeg_head(10, 20)})[1] == "jpg"

    @pytest.mark.parametrize(
        ("target", "reason"),
        [
            ("https://example.org/a.png", "it is on the web, and nothing is downloaded"),
            ("file:///etc/passwd", "it is on the web, and nothing is downloaded"),
            ("/etc/passwd", "no such file"),
            ("../secret.png", "no such file"),
            ("data:image/png;base64,%%%", "damaged|not valid"),
            ("data:image/png", "damaged|not valid"),
            ("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>", "not a PNG"),
            (data_uri(png()[:20]), "damaged|not valid"),
            (data_uri(png(0, 0)), "damaged|not valid"),
            (data_uri(png(claims=(60_000, 60_000))), "too large"),
            (data_uri(jpeg_head(65_000, 65_000), "image/jpeg"), "too large"),
            (data_uri(b"\xff\xd8\xff\xe0\x00", "image/jpeg"), "damaged|not valid"),
        ],
    )
    def test_refuses_what_is_elsewhere_of_another_kind_broken_or_too_large(self, target: str, reason: str) -> None:
        with pytest.raises(NoImage, match=reason):
            find_image(target, {})

    def test_takes_a_picture_at_the_border(self) -> None:
        width = 10_000
        assert find_image(data_uri(png(claims=(width, MOST_PIXELS // width))), {})[1] == "png"
        with pytest.raises(NoImage):
            find_image(data_uri(png(claims=(width, MOST_PIXELS // width + 1))), {})
