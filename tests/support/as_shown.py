"""How the page writes what the API says, told a second time, so that a test finds a figure that the page
took from the wrong place or rounded wrongly."""
from decimal import ROUND_HALF_UP, Context, Decimal

NOT_FINITE = {"NaN": "NaN", "Infinity": "∞", "-Infinity": "−∞"}


def number(value):
    """Four digits that count; very small and very large ones with an exponent."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return NOT_FINITE[value]
    exact, size = Decimal(value), abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e7):
        mantissa, _, exponent = f"{Context(prec=3, rounding=ROUND_HALF_UP).plus(exact):.2e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    if value == int(value):
        return str(int(value)).replace("-", "−")
    return f"{Context(prec=4, rounding=ROUND_HALF_UP).plus(exact).normalize():f}".replace("-", "−")


def percent(value):
    return f"{(Decimal(value) * 100).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def count(value):
    """A whole number with narrow spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def size(value):
    """Bytes in the largest unit that keeps a digit before the point."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def name(metric):
    """A metric's key as a heading."""
    short = {"rmse": "RMSE", "mae": "MAE", "r2": "R²", "f1": "F1", "phm08": "PHM08"}
    words = " ".join(short.get(word, word) for word in metric.split("_"))
    return words[0].upper() + words[1:]
