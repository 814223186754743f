"""What the screens say and draw, as plain values. Pure: no database, no request, no HTML."""
